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
	set := readStatefulSet(t)
	p := startPods(t, image(t), set)
	for _, id := range p {
		eventually(t, "a pod is ready", func() bool {
			out, err := run(t.Context(), limit, nil, "docker", "exec", id, "/fencelock", "health")
			return err == nil && out == "ready"
		})
	}
	var endpoints []string
	for i := range p {
		endpoints = append(endpoints, set.host(i)+":2379")
	}
	status := []string{"docker", "exec", p[0], "/fencelock", "status", "--endpoints=" + strings.Join(endpoints, ","), "--cacert=/tls/ca.crt"}
	out := mustRun(t, append(status, "--cert=/tls/tls.crt", "--key=/tls/tls.key")...)
	for _, endpoint := range endpoints {
		if !strings.Contains(out, endpoint) {
			t.Errorf("status does not know %s:\n%s", endpoint, out)
		}
	}
	if out, err := run(t.Context(), limit, nil, append(status, "--dial-timeout=2s")...); err == nil {
		t.Errorf("a client without a certificate is let in:\n%s", out)
	}
}

// host is the name of a pod in its namespace.
func (s statefulSet) host(i int) string {
	return fmt.Sprintf("%s-%d.%s", s.Metadata.Name, i, s.Spec.ServiceName)
}

// startPods returns the containers.
func startPods(t *testing.T, image string, set statefulSet) []string {
	t.Helper()
	network := fmt.Sprintf("fencelock-pods-%d", os.Getpid())
	mustRun(t, "docker", "network", "create", network)
	t.Cleanup(func() { cleanUp(t, "docker", "network", "rm", network) })
	secret := secretFiles(t, image, set)
	c := set.Spec.Template.Spec.Containers[0]
	var ids []string
	for i := range set.Spec.Replicas {
		args := []string{"docker", "run", "--detach", "--network=" + network, "--network-alias=" + set.host(i),
			"--read-only", "--cap-drop=ALL", "--volume=" + secret + ":/tls:ro"}
		for _, entry := range c.environment(fmt.Sprintf("%s-%d", set.Metadata.Name, i)) {
			args = append(args, "--env="+entry)
		}
		id := mustRun(t, slices.Concat(args, []string{image}, c.Args)...)
		t.Cleanup(func() {
			if t.Failed() {
				out, _ := run(context.Background(), limit, nil, "sh", "-c", `docker logs --tail=20 "$0" 2>&1`, id)
				t.Log(out)
			}
			cleanUp(t, "docker", "rm", "--force", "--volumes", id)
		})
		ids = append(ids, id)
	}
	return ids
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
