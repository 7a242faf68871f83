package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	// The messages that a resource may hold. JSON names them by type.
	_ "github.com/cncf/xds/go/udpa/type/v1"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/file/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/fault/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/wasm/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/http_inspector/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/original_dst/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/tls_inspector/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
)

// resource is a message. Its version is a hash.
type resource struct {
	message *anypb.Any
	version string
}

// resources are the resources of one proxy, by type and name.
type resources map[string]map[string]resource

// store holds the resources of each proxy. Proxies are named POD.NAMESPACE.
type store struct {
	mu       sync.Mutex
	of       map[string]resources
	watchers map[chan struct{}]bool
}

func newStore() *store {
	return &store{of: map[string]resources{}, watchers: map[chan struct{}]bool{}}
}

// set replaces all resources of one proxy: messages as JSON, each with its "@type".
func (s *store) set(proxy string, messages []json.RawMessage) error {
	made := resources{}
	for _, text := range messages {
		name, message, err := readResource(text)
		if err != nil {
			return err
		}
		if made[message.TypeUrl] == nil {
			made[message.TypeUrl] = map[string]resource{}
		}
		sum := sha256.Sum256(message.Value)
		made[message.TypeUrl][name] = resource{message: message, version: hex.EncodeToString(sum[:8])}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[proxy] = made
	for watcher := range s.watchers {
		select {
		case watcher <- struct{}{}:
		default:
		}
	}
	return nil
}

func readResource(text []byte) (string, *anypb.Any, error) {
	if strings.Contains(string(text), nameTableType) {
		return readNameTable(text)
	}
	message := &anypb.Any{}
	if err := protojson.Unmarshal(text, message); err != nil {
		return "", nil, err
	}
	content, err := message.UnmarshalNew()
	if err != nil {
		return "", nil, err
	}
	name := nameOf(content)
	if name == "" {
		return "", nil, fmt.Errorf("a resource without a name: %s", text)
	}
	return name, message, nil
}

// nameOf returns the name by which clients subscribe to a resource.
func nameOf(message proto.Message) string {
	reflected := message.ProtoReflect()
	for _, name := range []protoreflect.Name{"name", "cluster_name"} {
		if field := reflected.Descriptor().Fields().ByName(name); field != nil {
			return reflected.Get(field).String()
		}
	}
	return ""
}

// get returns a snapshot, which never changes.
func (s *store) get(proxy, typeURL string) map[string]resource {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[proxy][typeURL]
}

// watch returns a channel that signals changes, and a function that ends the watch.
func (s *store) watch() (<-chan struct{}, func()) {
	watcher := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers[watcher] = true
	return watcher, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, watcher)
	}
}
