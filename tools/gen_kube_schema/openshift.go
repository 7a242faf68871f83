package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The shape of apps.openshift.io/v1 DeploymentConfig, as its API reference describes it. OpenShift's own Go module is
// not a dependency because only its first, much older version has a release number.

type DeploymentConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              DeploymentConfigSpec   `json:"spec"`
	Status            DeploymentConfigStatus `json:"status,omitempty"`
}

type DeploymentConfigSpec struct {
	Strategy             DeploymentStrategy        `json:"strategy"`
	MinReadySeconds      int32                     `json:"minReadySeconds,omitempty"`
	Triggers             []DeploymentTriggerPolicy `json:"triggers"`
	Replicas             int32                     `json:"replicas"`
	RevisionHistoryLimit *int32                    `json:"revisionHistoryLimit,omitempty"`
	Test                 bool                      `json:"test"`
	Paused               bool                      `json:"paused,omitempty"`
	Selector             map[string]string         `json:"selector,omitempty"`
	Template             *corev1.PodTemplateSpec   `json:"template,omitempty"`
}

type DeploymentStrategy struct {
	Type                  string                            `json:"type,omitempty"`
	CustomParams          *CustomDeploymentStrategyParams   `json:"customParams,omitempty"`
	RecreateParams        *RecreateDeploymentStrategyParams `json:"recreateParams,omitempty"`
	RollingParams         *RollingDeploymentStrategyParams  `json:"rollingParams,omitempty"`
	Resources             corev1.ResourceRequirements       `json:"resources,omitempty"`
	Labels                map[string]string                 `json:"labels,omitempty"`
	Annotations           map[string]string                 `json:"annotations,omitempty"`
	ActiveDeadlineSeconds *int64                            `json:"activeDeadlineSeconds,omitempty"`
}

type CustomDeploymentStrategyParams struct {
	Image       string          `json:"image,omitempty"`
	Environment []corev1.EnvVar `json:"environment,omitempty"`
	Command     []string        `json:"command,omitempty"`
}

type RecreateDeploymentStrategyParams struct {
	TimeoutSeconds *int64         `json:"timeoutSeconds,omitempty"`
	Pre            *LifecycleHook `json:"pre,omitempty"`
	Mid            *LifecycleHook `json:"mid,omitempty"`
	Post           *LifecycleHook `json:"post,omitempty"`
}

type RollingDeploymentStrategyParams struct {
	UpdatePeriodSeconds *int64              `json:"updatePeriodSeconds,omitempty"`
	IntervalSeconds     *int64              `json:"intervalSeconds,omitempty"`
	TimeoutSeconds      *int64              `json:"timeoutSeconds,omitempty"`
	MaxUnavailable      *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	MaxSurge            *intstr.IntOrString `json:"maxSurge,omitempty"`
	Pre                 *LifecycleHook      `json:"pre,omitempty"`
	Post                *LifecycleHook      `json:"post,omitempty"`
}

type LifecycleHook struct {
	FailurePolicy string          `json:"failurePolicy"`
	ExecNewPod    *ExecNewPodHook `json:"execNewPod,omitempty"`
	TagImages     []TagImageHook  `json:"tagImages,omitempty"`
}

type ExecNewPodHook struct {
	Command       []string        `json:"command"`
	Env           []corev1.EnvVar `json:"env,omitempty"`
	ContainerName string          `json:"containerName"`
	Volumes       []string        `json:"volumes,omitempty"`
}

type TagImageHook struct {
	ContainerName string                 `json:"containerName"`
	To            corev1.ObjectReference `json:"to"`
}

type DeploymentTriggerPolicy struct {
	Type              string                              `json:"type,omitempty"`
	ImageChangeParams *DeploymentTriggerImageChangeParams `json:"imageChangeParams,omitempty"`
}

type DeploymentTriggerImageChangeParams struct {
	Automatic          bool                   `json:"automatic,omitempty"`
	ContainerNames     []string               `json:"containerNames,omitempty"`
	From               corev1.ObjectReference `json:"from"`
	LastTriggeredImage string                 `json:"lastTriggeredImage,omitempty"`
}

type DeploymentConfigStatus struct {
	LatestVersion       int64                 `json:"latestVersion"`
	ObservedGeneration  int64                 `json:"observedGeneration"`
	Replicas            int32                 `json:"replicas"`
	UpdatedReplicas     int32                 `json:"updatedReplicas"`
	AvailableReplicas   int32                 `json:"availableReplicas"`
	UnavailableReplicas int32                 `json:"unavailableReplicas"`
	Details             *DeploymentDetails    `json:"details,omitempty"`
	Conditions          []DeploymentCondition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
	ReadyReplicas       int32                 `json:"readyReplicas,omitempty"`
}

type DeploymentDetails struct {
	Message string            `json:"message,omitempty"`
	Causes  []DeploymentCause `json:"causes"`
}

type DeploymentCause struct {
	Type         string                       `json:"type"`
	ImageTrigger *DeploymentCauseImageTrigger `json:"imageTrigger,omitempty"`
}

type DeploymentCauseImageTrigger struct {
	From corev1.ObjectReference `json:"from"`
}

type DeploymentCondition struct {
	Type               string      `json:"type"`
	Status             string      `json:"status"`
	LastUpdateTime     metav1.Time `json:"lastUpdateTime,omitempty"`
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	Reason             string      `json:"reason,omitempty"`
	Message            string      `json:"message,omitempty"`
}
