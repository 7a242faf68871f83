// The part of a kubelet that runs commands in containers: an HTTPS server that the API server connects to for
// pods/exec, pods/portforward and pods/log. A container is a network namespace, or none, and a folder of programs; the file in the first argument
// tells which. It is read again after it changed.
package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	clientremotecommand "k8s.io/client-go/tools/remotecommand"
	"k8s.io/kubelet/pkg/cri/streaming/portforward"
	streaming "k8s.io/kubelet/pkg/cri/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// container is a running container, by "namespace/pod/container" in the file.
type container struct {
	// Command is put before each command: `nsenter --net=...`.
	Command []string `json:"command"`
	// Path is the PATH of its programs.
	Path string `json:"path"`
	// Answers are the standard output of commands that are not run, by their arguments joined by blanks.
	Answers map[string]string `json:"answers"`
	// Log is the file that pods/log shows.
	Log string `json:"log"`
	// Delay is how many milliseconds each command takes at least.
	Delay int `json:"delay"`
	// Ports are the addresses that ports of the pod are forwarded to.
	Ports map[string]string `json:"ports"`
}

type runtime struct {
	file string
	runs atomic.Int64

	lock  sync.Mutex
	read  time.Time
	known map[string]container
}

// containers reads the file again after it changed.
func (r *runtime) containers() (map[string]container, error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	status, err := os.Stat(r.file)
	if err != nil || status.ModTime().Equal(r.read) {
		return r.known, err
	}
	text, err := os.ReadFile(r.file)
	if err != nil {
		return nil, err
	}
	var found map[string]container
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, err
	}
	r.known, r.read = found, status.ModTime()
	return found, nil
}

// ExecInContainer runs a command as a container runtime does, with its error texts.
func (r *runtime) ExecInContainer(ctx context.Context, pod string, _ types.UID, name string, cmd []string,
	in io.Reader, out, errOut io.WriteCloser, _ bool, _ <-chan clientremotecommand.TerminalSize, _ time.Duration) error {
	r.runs.Add(1)
	all, err := r.containers()
	if err != nil {
		return err
	}
	c := all[pod+"/"+name]
	time.Sleep(time.Duration(c.Delay) * time.Millisecond)
	if c.Answers != nil {
		answer, known := c.Answers[strings.Join(cmd, " ")]
		if !known {
			fmt.Fprintf(errOut, "no answer to %q\n", cmd)
			return utilexec.CodeExitError{Err: errors.New("exit status 1"), Code: 1}
		}
		_, err := io.Copy(out, bytes.NewBufferString(answer))
		return err
	}
	args := append(append([]string{}, c.Command...), "env", "PATH="+c.Path)
	process := exec.CommandContext(ctx, args[0], append(args[1:], cmd...)...)
	process.Stdout, process.Stderr = out, errOut
	if in != nil {
		// Not process.Stdin: the end of the process must not wait for that of the stream.
		stdin, err := process.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			io.Copy(stdin, in)
			stdin.Close()
		}()
	}
	err = process.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if exit.ExitCode() == 127 {
			return fmt.Errorf("failed to exec in container: exec: %q: executable file not found in $PATH: unknown", cmd[0])
		}
		return utilexec.CodeExitError{Err: err, Code: exit.ExitCode()}
	}
	return err
}

// serve handles /exec/NAMESPACE/POD/CONTAINER, as kubelets do (pkg/kubelet/server).
func (r *runtime) serve(w http.ResponseWriter, req *http.Request) {
	parts := strings.Split(strings.TrimPrefix(req.URL.Path, "/exec/"), "/")
	if len(parts) < 3 {
		http.NotFound(w, req)
		return
	}
	pod, name := parts[0]+"/"+parts[1], parts[len(parts)-1]
	all, err := r.containers()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if _, runs := all[pod+"/"+name]; !runs {
		http.Error(w, fmt.Sprintf("container not found (%q)", name), http.StatusInternalServerError)
		return
	}
	options, err := streaming.NewOptions(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	streaming.ServeExec(w, req, r, pod, "", name, req.URL.Query()["command"], options, time.Minute, 30*time.Second,
		remotecommand.SupportedStreamingProtocols)
}

// PortForward copies between a stream and the address of a port.
func (r *runtime) PortForward(_ context.Context, pod string, _ types.UID, port int32, stream io.ReadWriteCloser) error {
	all, err := r.containers()
	if err != nil {
		return err
	}
	for name, c := range all {
		address, known := c.Ports[fmt.Sprint(port)]
		if !known || !strings.HasPrefix(name, pod+"/") {
			continue
		}
		connection, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		defer connection.Close()
		go io.Copy(connection, stream)
		_, err = io.Copy(stream, connection)
		return err
	}
	return fmt.Errorf("connection refused: no port %d", port)
}

// forward handles /portForward/NAMESPACE/POD.
func (r *runtime) forward(w http.ResponseWriter, req *http.Request) {
	parts := strings.Split(strings.TrimPrefix(req.URL.Path, "/portForward/"), "/")
	if len(parts) < 2 {
		http.NotFound(w, req)
		return
	}
	options, err := portforward.NewV4Options(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, req, r, parts[0]+"/"+parts[1], "", options, time.Minute, 30*time.Second,
		portforward.SupportedProtocols)
}

// logs handles /containerLogs/NAMESPACE/POD/CONTAINER: the whole log, whatever part is asked for.
func (r *runtime) logs(w http.ResponseWriter, req *http.Request) {
	all, err := r.containers()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	http.ServeFile(w, req, all[strings.TrimPrefix(req.URL.Path, "/containerLogs/")].Log)
}

func certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotAfter:     time.Now().Add(24 * time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

func main() {
	pair, err := certificate()
	if err == nil {
		err = run(pair)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// run serves until standard input closes, and prints the port.
func run(pair tls.Certificate) error {
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		return err
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	r := &runtime{file: os.Args[1]}
	http.HandleFunc("/exec/", r.serve)
	http.HandleFunc("/portForward/", r.forward)
	http.HandleFunc("/containerLogs/", r.logs)
	http.HandleFunc("/runs", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, r.runs.Load()) })
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	return http.Serve(listener, nil)
}
