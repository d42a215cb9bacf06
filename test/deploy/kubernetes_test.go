package deploy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/fencelock/fencelock/config"
)

const manifest = "deploy/kubernetes/fencelock.yaml"

// decode reads manifests with Kubernetes' own types, strictly, and returns kinds and
// names.
func decode(t *testing.T, text string) (string, error) {
	t.Helper()
	return run(t.Context(), buildLimit, []byte(text), "go", "run", "-C", top+"/test/tools/kubernetes", ".")
}

func TestKubernetesTypes(t *testing.T) {
	text := read(t, manifest)
	got, err := decode(t, text)
	if err != nil {
		t.Fatal(err)
	}
	want := "StatefulSet fencelock, Service fencelock-peers, Service fencelock, PodDisruptionBudget fencelock, NetworkPolicy fencelock"
	if got := strings.ReplaceAll(got, "\n", ", "); got != want {
		t.Errorf("got %s; want %s", got, want)
	}
	for _, right := range []string{"readinessProbe:", "publishNotReadyAddresses:", "maxUnavailable:", "policyTypes:", "terminationGracePeriodSeconds:"} {
		if _, err := decode(t, strings.Replace(text, right, "x"+right, 1)); err == nil || !strings.Contains(err.Error(), "unknown field") {
			t.Errorf("with %q misspelt: got %v, want an unknown field", right, err)
		}
	}
}

// statefulSet is what a member's settings come from.
type statefulSet struct {
	Metadata struct{ Name string }
	Spec     struct {
		ServiceName         string
		Replicas            int
		PodManagementPolicy string
		Template            struct {
			Spec struct {
				EnableServiceLinks *bool
				Containers         []container
			}
		}
	}
}

type container struct {
	Args  []string
	Env   []struct{ Name, Value string }
	Ports []struct {
		Name          string
		ContainerPort int
	}
	LivenessProbe, ReadinessProbe struct {
		HTTPGet struct{ Path, Port string }
	}
}

func readStatefulSet(t *testing.T) statefulSet {
	t.Helper()
	first, _, _ := strings.Cut(read(t, manifest), "\n---\n")
	var set statefulSet
	if err := yaml.Unmarshal([]byte(first), &set); err != nil {
		t.Fatal(err)
	}
	return set
}

// Every pod finds itself in the list, without a look-up, and listens where its
// probes and services expect it.
func TestKubernetesMembers(t *testing.T) {
	set := readStatefulSet(t)
	if set.Spec.PodManagementPolicy != "Parallel" {
		t.Errorf("podManagementPolicy %s: the first start needs all members at once", set.Spec.PodManagementPolicy)
	}
	if links := set.Spec.Template.Spec.EnableServiceLinks; links == nil || *links {
		t.Error("enableServiceLinks is not false: FENCELOCK_PORT would come into the environment")
	}
	c := set.Spec.Template.Spec.Containers[0]
	var peers []string
	for i := range set.Spec.Replicas {
		peers = append(peers, set.host(i)+":2380")
	}
	if want := []string{"server", "--peers=" + strings.Join(peers, ",")}; !slices.Equal(c.Args, want) {
		t.Fatalf("got the arguments %q, want %q", c.Args, want)
	}
	for i, peer := range peers {
		pod := fmt.Sprintf("%s-%d", set.Metadata.Name, i)
		cfg, err := config.Load(config.Sources{Env: append(c.environment(pod), "FENCELOCK_SERVER_PEERS="+strings.Join(peers, ","))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // no time for look-ups
		member, err := cfg.Server.Member(ctx)
		if err != nil {
			t.Fatalf("pod %d: %v", i, err)
		}
		got := fmt.Sprintf("%s%v %v %v %v %s", member.Name, member.InitialCluster[member.Name], member.ListenPeer, member.ListenClient, member.AdvertiseClient, member.ListenMetrics)
		want := fmt.Sprintf("%s[%s] [0.0.0.0:2380] [0.0.0.0:2379] [%s] 0.0.0.0:2381", peer, peer, strings.Replace(peer, ":2380", ":2379", 1))
		if got != want {
			t.Errorf("pod %d: got %s, want %s", i, got, want)
		}
	}
	if got := fmt.Sprint(c.Ports, c.LivenessProbe, c.ReadinessProbe); got != "[{client 2379} {peer 2380} {metrics 2381}] {{/livez metrics}} {{/readyz metrics}}" {
		t.Errorf("ports and probes: %s", got)
	}
}

// environment is that of a pod.
func (c container) environment(pod string) []string {
	var env []string
	for _, entry := range c.Env {
		value := strings.ReplaceAll(entry.Value, "$(POD_NAME)", pod)
		if entry.Name == "POD_NAME" { // a reference, not a value
			value = pod
		}
		env = append(env, entry.Name+"="+value)
	}
	return env
}
