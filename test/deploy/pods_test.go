package deploy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPods runs the containers of the StatefulSet as a kubelet would, with its very
// arguments and environment, under the names that the headless service gives them, and
// with one certificate for all.
func TestPods(t *testing.T) {
	engine(t)
	p := startPods(t, image(t))
	var endpoints []string
	for i := range p.ids {
		awaitReady(t, p.ids[i])
		endpoints = append(endpoints, p.set.host(i)+":2379")
	}
	all := "--endpoints=" + strings.Join(endpoints, ",")
	out := mustRun(t, "docker", "exec", p.ids[0], "/fencelock", "status", all)
	for _, endpoint := range endpoints {
		if !strings.Contains(out, endpoint) {
			t.Errorf("status does not know %s:\n%s", endpoint, out)
		}
	}
	if out, err := run(t.Context(), limit, nil, "docker", "exec", "--env=FENCELOCK_CLIENT_CERT=", "--env=FENCELOCK_CLIENT_KEY=",
		p.ids[0], "/fencelock", "status", all, "--dial-timeout=2s"); err == nil {
		t.Errorf("a client without a certificate is let in:\n%s", out)
	}
	p.replace(t, 2)
}

// replace takes a pod's volume away, and brings the pod back as the operations guide
// says: it joins once, and then runs with its old arguments.
func (p *pods) replace(t *testing.T, i int) {
	t.Helper()
	p.end(t, i)
	mustRun(t, "docker", "volume", "rm", p.volume(i))
	mustRun(t, "docker", "exec", p.ids[0], "/fencelock", "member", "replace", p.set.host(i)+":2380", "--yes")
	p.start(t, i, "server", "--join=https://"+p.set.host(0)+":2379,https://"+p.set.host(1)+":2379")
	awaitReady(t, p.ids[i])
	p.end(t, i)
	p.start(t, i, p.set.Spec.Template.Spec.Containers[0].Args...)
	awaitReady(t, p.ids[i])
}

func awaitReady(t *testing.T, id string) {
	t.Helper()
	eventually(t, "a pod is ready", func() bool {
		out, err := run(t.Context(), limit, nil, "docker", "exec", id, "/fencelock", "health")
		return err == nil && out == "ready"
	})
}

// pods are the containers of a StatefulSet.
type pods struct {
	set                    statefulSet
	image, network, secret string
	ids                    []string
}

// host is the name of a pod in its namespace.
func (s statefulSet) host(i int) string {
	return fmt.Sprintf("%s-%d.%s", s.Metadata.Name, i, s.Spec.ServiceName)
}

func startPods(t *testing.T, image string) *pods {
	t.Helper()
	set := readStatefulSet(t)
	p := &pods{set: set, image: image, network: fmt.Sprintf("fencelock-pods-%d", os.Getpid()), ids: make([]string, set.Spec.Replicas)}
	p.secret = secretFiles(t, image, set)
	mustRun(t, "docker", "network", "create", p.network)
	t.Cleanup(func() { cleanUp(t, "docker", "network", "rm", p.network) })
	for i := range p.ids {
		t.Cleanup(func() { cleanUp(t, "docker", "volume", "rm", "--force", p.volume(i)) })
		p.start(t, i, set.Spec.Template.Spec.Containers[0].Args...)
	}
	return p
}

func (p *pods) volume(i int) string { return fmt.Sprintf("%s-%d", p.network, i) }

// end deletes a pod.
func (p *pods) end(t *testing.T, i int) {
	t.Helper()
	mustRun(t, "docker", "stop", "--time=30", p.ids[i])
	mustRun(t, "docker", "rm", p.ids[i])
}

// start runs a pod.
func (p *pods) start(t *testing.T, i int, command ...string) {
	t.Helper()
	args := []string{"docker", "run", "--detach", "--network=" + p.network, "--network-alias=" + p.set.host(i), "--read-only", "--cap-drop=ALL",
		"--volume=" + p.secret + ":/tls:ro", "--volume=" + p.volume(i) + ":/data"}
	for _, entry := range p.set.Spec.Template.Spec.Containers[0].environment(fmt.Sprintf("%s-%d", p.set.Metadata.Name, i)) {
		args = append(args, "--env="+entry)
	}
	id := mustRun(t, slices.Concat(args, []string{p.image}, command)...)
	p.ids[i] = id
	t.Cleanup(func() {
		if t.Failed() {
			out, err := run(context.Background(), limit, nil, "sh", "-c", `docker logs --tail=20 "$0" 2>&1`, id)
			t.Log(out, err)
		}
		cleanUp(t, "docker", "rm", "--force", id)
	})
}

// secretFiles is a folder as the Secret of the operations guide is mounted, made by
// the guide's command.
func secretFiles(t *testing.T, image string, set statefulSet) string {
	t.Helper()
	made, secret := t.TempDir(), t.TempDir()
	command := []string{"docker", "run", "--rm", "--user=0", "--volume=" + made + ":/made", image, "cert", "create", "--dir=/made",
		"--peers=" + set.host(0) + ":2380", "--client=root"}
	for i := 1; i < set.Spec.Replicas; i++ {
		command = append(command, "--also="+set.host(i))
	}
	mustRun(t, command...)
	for from, to := range map[string]string{"ca.pem": "ca.crt", set.host(0) + ".pem": "tls.crt", set.host(0) + ".key": "tls.key"} {
		content := readAt(t, filepath.Join(made, from))
		if err := os.WriteFile(filepath.Join(secret, to), content, 0o644); err != nil { // fsGroup is Kubernetes'
			t.Fatal(err)
		}
	}
	if err := os.Chmod(secret, 0o755); err != nil {
		t.Fatal(err)
	}
	return secret
}
