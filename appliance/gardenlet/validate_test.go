// SPDX-License-Identifier: Apache-2.0

package gardenlet_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet"
)

func config() *gardenconfigv1alpha1.GardenletConfiguration {
	c := &gardenconfigv1alpha1.GardenletConfiguration{SeedConfig: &gardenconfigv1alpha1.SeedConfig{}}
	c.SeedConfig.Name = "one"
	c.SetDefaults()
	c.GardenClientConnection.KubeconfigSecret = &corev1.SecretReference{Namespace: "garden", Name: "x"}
	return c
}

func TestValidateConfig(t *testing.T) {
	t.Parallel()
	shoots := func(n string) corev1.ResourceList { return corev1.ResourceList{"shoots": resource.MustParse(n)} }
	cases := map[string]struct {
		reason string
		change func(c *gardenconfigv1alpha1.GardenletConfiguration)
		want   string
	}{
		"Good":    {reason: "nothing is wrong with a good configuration", change: func(*gardenconfigv1alpha1.GardenletConfiguration) {}},
		"NoSeed":  {reason: "GLET-BOOT-1: a gardenlet serves a seed", change: func(c *gardenconfigv1alpha1.GardenletConfiguration) { c.SeedConfig = nil }, want: "seedConfig: required: it describes the seed of the gardenlet"},
		"NoName":  {reason: "which has a name", change: func(c *gardenconfigv1alpha1.GardenletConfiguration) { c.SeedConfig.Name = "" }, want: "seedConfig.metadata.name: a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"},
		"NoWayIn": {reason: "GLET-BOOT-4: there is a way into the garden", change: func(c *gardenconfigv1alpha1.GardenletConfiguration) { c.GardenClientConnection.KubeconfigSecret = nil }, want: "gardenClientConnection: no credentials for the garden: set kubeconfig, or bootstrapKubeconfig together with kubeconfigSecret"},
		"NoPlace": {reason: "what a bootstrap obtains has a place", change: bootstrapOnly, want: "gardenClientConnection.kubeconfigSecret: required together with bootstrapKubeconfig: the gardenlet stores its credentials there"},
		"ShortLife": {reason: "GLET-CSR-5: certificates live ten minutes at least", change: func(c *gardenconfigv1alpha1.GardenletConfiguration) {
			c.GardenClientConnection.KubeconfigValidity.Validity = &metav1.Duration{Duration: time.Minute}
		}, want: "gardenClientConnection.kubeconfigValidity.validity: must be at least 10m0s"},
		"Upside": {reason: "GLET-ROT-2: the percentages are in order", change: func(c *gardenconfigv1alpha1.GardenletConfiguration) {
			c.GardenClientConnection.KubeconfigValidity.AutoRotationJitterPercentageMin = new(int32(95))
		}, want: "gardenClientConnection.kubeconfigValidity: rotation between 95 and 90 percent of the validity is not possible: the percentages must be from 1 to 100, and the minimum must not exceed the maximum"},
		"TooMuch": {reason: "GLET-SEED-3: not more can be reserved than there is", change: func(c *gardenconfigv1alpha1.GardenletConfiguration) {
			c.Resources = &gardenconfigv1alpha1.ResourcesConfiguration{Capacity: shoots("10"), Reserved: shoots("11")}
		}, want: "resources.reserved[shoots]: must not be more than the capacity"},
		"NoHeartbeat": {reason: "GLET-LEASE-1: a heart beats", change: func(c *gardenconfigv1alpha1.GardenletConfiguration) {
			c.Controllers.Seed.LeaseResyncSeconds = new(int32(0))
		}, want: "controllers.seed: leaseResyncSeconds and leaseResyncMissThreshold must be at least 1"},
		"OtherLock": {reason: "GLET-CFG-1: there are no other locks any more", change: func(c *gardenconfigv1alpha1.GardenletConfiguration) {
			c.LeaderElection.ResourceLock = "configmapsleases"
		}, want: "leaderElection.resourceLock: must be leases: Kubernetes has no other locks any more"},
		"NoLock": {reason: "without an election no lock is made", change: func(c *gardenconfigv1alpha1.GardenletConfiguration) {
			c.LeaderElection.LeaderElect, c.LeaderElection.ResourceLock = new(false), "configmapsleases"
		}},
		"Format": {reason: "GLET-CFG-1: clients write two formats", change: func(c *gardenconfigv1alpha1.GardenletConfiguration) {
			c.GardenClientConnection.ContentType, c.SeedClientConnection.ContentType = "application/vnd.kubernetes.protobuf", "application/json"
			c.ShootClientConnection.ContentType = "text/plain"
		}, want: "shootClientConnection.contentType: must be application/json or application/vnd.kubernetes.protobuf"},
		"NoBurst": {reason: "GLET-CFG-1: less than no request would be none for ever", change: func(c *gardenconfigv1alpha1.GardenletConfiguration) {
			c.SeedClientConnection.Burst = -1
		}, want: "seedClientConnection.burst: must not be negative"},
		"NoTolerance": {reason: "GLET-CFG-1: no pod leaves before its node is lost", change: func(c *gardenconfigv1alpha1.GardenletConfiguration) {
			c.NodeToleration = &gardenconfigv1alpha1.NodeToleration{DefaultUnreachableTolerationSeconds: new(int64(-1))}
		}, want: "nodeToleration: the seconds must not be negative"},
		"NoSelector": {reason: "GLET-NP-1: further namespaces are selected as everywhere in Kubernetes", change: func(c *gardenconfigv1alpha1.GardenletConfiguration) {
			c.Controllers.NetworkPolicy.AdditionalNamespaceSelectors = []metav1.LabelSelector{{}, {MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}}
		}, want: `controllers.networkPolicy.additionalNamespaceSelectors[1]: "Near" is not a valid label selector operator`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config()
			tc.change(c)
			got := ""
			if err := errors.Join(gardenlet.ValidateConfig(c)...); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nValidateConfig(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func bootstrapOnly(c *gardenconfigv1alpha1.GardenletConfiguration) {
	c.GardenClientConnection.BootstrapKubeconfig, c.GardenClientConnection.KubeconfigSecret = c.GardenClientConnection.KubeconfigSecret, nil
}

func TestComplete(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(o *gardenlet.Options)
		want   string
	}{
		"NoPod":       {reason: "outside of a pod a kubeconfig of the seed is needed", change: func(*gardenlet.Options) {}, want: "seedClientConnection.kubeconfig"},
		"NoFile":      {reason: "a kubeconfig that is not there is named", change: func(o *gardenlet.Options) { o.Config.SeedClientConnection.Kubeconfig = "/nowhere" }, want: `"/nowhere"`},
		"NoImageFile": {reason: "so is a missing image vector", change: func(o *gardenlet.Options) { o.ImageVectorOverwrite = "/no/images" }, want: "/no/images"},
		"Invalid":     {reason: "what is wrong is found before anything starts", change: func(o *gardenlet.Options) { o.Config.SeedConfig = nil }, want: "gardenlet configuration: seedConfig"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := gardenlet.Options{Config: config()}
			tc.change(&o)
			if _, err := o.Complete(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nComplete(): got error %v, want one with %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestRunWithoutPort(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	})
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("%T is no address", listener.Addr())
	}
	c := config()
	c.Server.HealthProbes = &gardenconfigv1alpha1.Endpoint{BindAddress: "127.0.0.1", Port: address.Port}
	c.SeedClientConnection.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	kubeconfig := "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: https://127.0.0.1:1}}]\ncontexts: [{name: a, context: {cluster: a}}]\ncurrent-context: a\n"
	if err := os.WriteFile(c.SeedClientConnection.Kubeconfig, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	completed, err := gardenlet.Options{Config: c}.Complete()
	if err != nil {
		t.Fatalf("Complete(): %v", err)
	}
	err = completed.Run(t.Context())
	hinted, ok := errors.AsType[interface {
		error
		Hint() string
	}](err)
	if !ok || !strings.Contains(hinted.Hint(), "server.healthProbes.port") || !strings.Contains(err.Error(), strconv.Itoa(address.Port)) {
		t.Errorf("A port that is taken is named, with the field that chooses another: got error %v", err)
	}
}
