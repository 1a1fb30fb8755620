// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/scheduler/picture"
)

type (
	seed  = gardencorev1beta1.Seed
	shoot = gardencorev1beta1.Shoot
)

// newSeed is a seed that passes every filter for newShoot.
func newSeed(name string, change ...func(*seed)) seed {
	s := seed{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"zone": "a"}}}
	s.Spec.Provider = gardencorev1beta1.SeedProvider{Type: "local", Region: "eu-west-1", Zones: []string{"a"}}
	s.Spec.Networks = gardencorev1beta1.SeedNetworks{Pods: "10.1.0.0/16", Services: "10.2.0.0/16", Nodes: new("10.3.0.0/16")}
	s.Status.LastOperation = &gardencorev1beta1.LastOperation{State: "Succeeded"}
	s.Status.Conditions = []gardencorev1beta1.Condition{{Type: "GardenletReady", Status: "True", Reason: "GardenletReady"}}
	for _, c := range change {
		c(&s)
	}
	return s
}

func newShoot(change ...func(*shoot)) *shoot {
	s := &shoot{ObjectMeta: metav1.ObjectMeta{Name: "crazy-botany", Namespace: "garden-dev"}}
	s.Spec.Provider = gardencorev1beta1.Provider{Type: "local", Workers: []gardencorev1beta1.Worker{{Name: "one", Zones: []string{"a"}}}}
	s.Spec.Region = "eu-west-1"
	s.Spec.Networking = &gardencorev1beta1.Networking{Pods: new("10.11.0.0/16"), Services: new("10.12.0.0/16")}
	for _, c := range change {
		c(s)
	}
	return s
}

func newProfile(change ...func(*gardencorev1beta1.CloudProfile)) *gardencorev1beta1.CloudProfile {
	p := &gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "local"}}
	for _, c := range change {
		c(p)
	}
	return p
}

func deleted(s *seed) { s.DeletionTimestamp = new(metav1.Now()) }

func hidden(s *seed) {
	s.Spec.Settings = &gardencorev1beta1.SeedSettings{Scheduling: &gardencorev1beta1.SeedSettingScheduling{Visible: false}}
}

func unprepared(s *seed) { s.Status.LastOperation = nil }

func silent(s *seed) {
	s.Status.Conditions = []gardencorev1beta1.Condition{{Type: "GardenletReady", Status: "Unknown", Reason: "StatusUnknown"}}
}

func region(name string) func(*seed) { return func(s *seed) { s.Spec.Provider.Region = name } }

func providerType(name string) func(*seed) { return func(s *seed) { s.Spec.Provider.Type = name } }

func taint(value *string) func(*seed) {
	return func(s *seed) {
		s.Spec.Taints = append(s.Spec.Taints, gardencorev1beta1.SeedTaint{Key: "k", Value: value})
	}
}

func tolerate(value *string) func(*shoot) {
	return func(s *shoot) {
		s.Spec.Tolerations = append(s.Spec.Tolerations, gardencorev1beta1.Toleration{Key: "k", Value: value})
	}
}

func capacity(shoots string) func(*seed) {
	return func(s *seed) { s.Status.Allocatable = corev1.ResourceList{"shoots": resource.MustParse(shoots)} }
}

func zoneMode(mode gardencorev1beta1.ZoneSelectionMode, zones ...string) func(*seed) {
	return func(s *seed) {
		s.Spec.Provider.Zones = zones
		s.Spec.Settings = &gardencorev1beta1.SeedSettings{ZoneSelection: &gardencorev1beta1.SeedSettingZoneSelection{Mode: mode}}
	}
}

func on(spec, status string) shoot {
	var s shoot
	if spec != "" {
		s.Spec.SeedName = &spec
	}
	if status != "" {
		s.Status.SeedName = &status
	}
	return s
}

func inDeletion(s shoot) shoot {
	s.DeletionTimestamp = new(metav1.Now())
	return s
}

func domain(name string) func(*shoot) {
	return func(s *shoot) { s.Spec.DNS = &gardencorev1beta1.DNS{Domain: &name} }
}

func defaults(domains ...string) func(*seed) {
	return func(s *seed) {
		for _, d := range domains {
			s.Spec.DNS.Defaults = append(s.Spec.DNS.Defaults, gardencorev1beta1.SeedDNSProviderConfig{Type: "local", Domain: d})
		}
	}
}

func forTesting(s *shoot) { s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting) }

func matchLabels(key, value string) *gardencorev1beta1.SeedSelector {
	return &gardencorev1beta1.SeedSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{key: value}}}
}

func providerTypes(types ...string) func(*gardencorev1beta1.CloudProfile) {
	return func(p *gardencorev1beta1.CloudProfile) {
		p.Spec.SeedSelector = &gardencorev1beta1.SeedSelector{ProviderTypes: types}
	}
}

// pictureOf is what the scheduler knows of some seeds and shoots, which get different names.
func pictureOf(seeds []seed, shoots []shoot) *picture.Picture {
	known := picture.New(clocktesting.NewFakePassiveClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)))
	for i := range seeds {
		known.SetSeed(&seeds[i])
	}
	for i := range shoots {
		shoots[i].Namespace, shoots[i].Name = "garden-other", fmt.Sprintf("n%d", i)
		known.SetShoot(&shoots[i])
	}
	return known
}

// sixth gives a seed networks of IPv6.
func sixth(s *seed) {
	s.Spec.Networks = gardencorev1beta1.SeedNetworks{Pods: "fd00:1::/32", Services: "fd00:2::/32", Nodes: new("fd00:3::/32")}
}

// nameless makes a seed one without DNS names for shoots.
func nameless(s *seed) {
	s.Spec.Settings = &gardencorev1beta1.SeedSettings{
		Scheduling: &gardencorev1beta1.SeedSettingScheduling{Visible: true}, ShootDNS: &gardencorev1beta1.SeedSettingShootDNS{Enabled: false},
	}
}
