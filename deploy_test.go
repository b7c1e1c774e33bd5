package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"simgraph/internal/fatal"
)

// imageOf is how the files for operators name images.
var imageOf = regexp.MustCompile(`(?m)^(?:\s+image: |ARG \w+_IMAGE=)(\S+)$`)

// tagged is an image with its version; a digest may follow.
var tagged = regexp.MustCompile(`:v?[0-9a-z][\w.-]*(@sha256:[0-9a-f]{64})?$`)

func TestImagesAreNamedWithAVersion(t *testing.T) {
	t.Parallel()
	found := 0
	for _, name := range documents(t, "deploy/Containerfile", "deploy/*.yaml") {
		for _, match := range imageOf.FindAllStringSubmatch(manual(t, name), -1) {
			found++
			if !tagged.MatchString(match[1]) || strings.Contains(match[1], ":latest") || strings.Contains(match[1], ":stable") {
				t.Errorf("%s names %s without a version", name, match[1])
			}
		}
	}
	if found < 6 {
		t.Errorf("only %d images were found", found)
	}
}

func TestTheImageHasWhatCommandsNeedAndIsNotRoot(t *testing.T) {
	t.Parallel()
	text := manual(t, "deploy/Containerfile")
	for what, wanted := range map[string]string{
		"the programs that backup, restore and psql run": `apt-get install .*\bpostgresql-client\b`,
		"a user by number": `(?m)^USER [1-9][0-9]*$`,
		"a health check":   `(?m)^HEALTHCHECK .*\\\n CMD curl .*/healthz`,
		"a volume":         `(?m)^VOLUME /var/lib/simgraph$`,
		"the version":      `-X simgraph/internal/command\.version=v\$VERSION`,
	} {
		if !regexp.MustCompile(wanted).MatchString(text) {
			t.Errorf("the image lacks %s", what)
		}
	}
}

// manifest is what a test reads of the objects of Kubernetes.
type manifest struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name, Namespace string }
	Spec       struct {
		Replicas int
		Template struct{ Spec podSpec }
	}
}

type podSpec struct {
	AutomountServiceAccountToken  *bool `yaml:"automountServiceAccountToken"`
	EnableServiceLinks            *bool `yaml:"enableServiceLinks"`
	TerminationGracePeriodSeconds int   `yaml:"terminationGracePeriodSeconds"`
	SecurityContext               struct {
		RunAsNonRoot bool `yaml:"runAsNonRoot"`
		RunAsUser    int  `yaml:"runAsUser"`
	} `yaml:"securityContext"`
	Containers []struct {
		Env             []struct{ Name, Value string }
		LivenessProbe   probeSpec `yaml:"livenessProbe"`
		ReadinessProbe  probeSpec `yaml:"readinessProbe"`
		SecurityContext struct {
			ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
			AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
			Capabilities             struct{ Drop []string }
		} `yaml:"securityContext"`
		VolumeMounts []struct {
			MountPath string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	}
}

type probeSpec struct {
	HTTPGet struct{ Path string } `yaml:"httpGet"`
}

// The manifests of Kubernetes run simgraph as their page says: no root, nothing that can be
// written but two folders, the right probes, and settings that exist.
func TestTheManifestsOfKubernetesHoldTheirPage(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseBytes([]byte(manual(t, "deploy/kubernetes.yaml")), 0)
	fatal.If(t, err)
	line := commandLine{}
	settings, err := newParser(&line, nil, nil, func(int) {})
	fatal.If(t, err)
	known := variables(settings)
	kinds := map[string]bool{}
	for _, document := range file.Docs {
		var m manifest
		fatal.If(t, yaml.NodeToValue(document.Body, &m))
		kinds[m.Kind] = true
		if m.APIVersion == "" || m.Metadata.Name == "" || m.Kind != "Namespace" && m.Metadata.Namespace != "simgraph" {
			t.Errorf("%s %q lacks its version, name or namespace", m.Kind, m.Metadata.Name)
		}
		if m.Kind == "Deployment" {
			checkPod(t, &m.Spec.Template.Spec, known)
		}
	}
	for _, kind := range []string{"Deployment", "Service", "Secret", "PodDisruptionBudget", "NetworkPolicy"} {
		if !kinds[kind] {
			t.Errorf("there is no %s", kind)
		}
	}
}

func checkPod(t *testing.T, pod *podSpec, known []string) {
	t.Helper()
	isFalse := func(b *bool) bool { return b != nil && !*b }
	if len(pod.Containers) != 1 || !isFalse(pod.AutomountServiceAccountToken) || !isFalse(pod.EnableServiceLinks) ||
		pod.TerminationGracePeriodSeconds < 60 || !pod.SecurityContext.RunAsNonRoot || pod.SecurityContext.RunAsUser != 10001 {
		t.Fatalf("the pod is %+v", pod)
	}
	c := &pod.Containers[0]
	if !c.SecurityContext.ReadOnlyRootFilesystem || !isFalse(c.SecurityContext.AllowPrivilegeEscalation) || !slices.Contains(c.SecurityContext.Capabilities.Drop, "ALL") {
		t.Errorf("the container may do too much: %+v", c.SecurityContext)
	}
	if c.LivenessProbe.HTTPGet.Path != "/healthz" || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
		t.Errorf("the probes are %+v and %+v", c.LivenessProbe, c.ReadinessProbe)
	}
	for _, folder := range []string{"/tmp", "/var/lib/simgraph", "/etc/simgraph"} {
		if !slices.ContainsFunc(c.VolumeMounts, func(m struct {
			MountPath string `yaml:"mountPath"`
		},
		) bool {
			return m.MountPath == folder
		}) {
			t.Errorf("%s is no volume", folder)
		}
	}
	for _, setting := range c.Env {
		if !slices.Contains(known, setting.Name) {
			t.Errorf("%s is no setting", setting.Name)
		}
	}
}
