// SPDX-License-Identifier: Apache-2.0

package shootquotavalidator_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootquotavalidator"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type shoot = gardencorev1beta1.Shoot

func quota(scope string, days *int32, pairs ...string) *gardencorev1beta1.Quota {
	q := &gardencorev1beta1.Quota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-trial", Name: "trial"},
		Spec: gardencorev1beta1.QuotaSpec{
			Scope: corev1.ObjectReference{APIVersion: "v1", Kind: scope}, ClusterLifetimeDays: days, Metrics: corev1.ResourceList{},
		},
	}
	if scope == "Project" {
		q.Spec.Scope.APIVersion = "core.gardener.cloud/v1beta1"
	}
	for i := 0; i < len(pairs); i += 2 {
		q.Spec.Metrics[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return q
}

func bindingIn(namespace string) *gardensecurityv1alpha1.CredentialsBinding {
	return admissiontest.Credentials(func(b *gardensecurityv1alpha1.CredentialsBinding) {
		b.Namespace, b.Quotas = namespace, []corev1.ObjectReference{{Namespace: "garden-trial", Name: "trial"}}
	})
}

// garden has one shoot in the same project and one in another, all of them with the same quota.
func garden(q *gardencorev1beta1.Quota) []kind.Object {
	profile := admissiontest.Profile(func(p *gardencorev1beta1.CloudProfile) {
		size := resource.MustParse("20Gi")
		p.Spec.MachineTypes[0].GPU = resource.MustParse("1")
		p.Spec.MachineTypes[0].Storage = &gardencorev1beta1.MachineTypeStorage{Type: "root", Class: "standard", Size: &size}
		p.Spec.VolumeTypes = []gardencorev1beta1.VolumeType{{Name: "slow", Class: "standard"}, {Name: "fast", Class: "premium"}}
	})
	return []kind.Object{
		profile, q, bindingIn(admissiontest.Namespace), bindingIn("garden-other"),
		admissiontest.Shoot(func(s *shoot) { s.Name = "beside" }),
		admissiontest.Shoot(func(s *shoot) { s.Namespace = "garden-other" }),
	}
}

func three(s *shoot) { s.Spec.Provider.Workers[0].Maximum = 3 }

func nginx(s *shoot) {
	s.Spec.Addons = &gardencorev1beta1.Addons{NginxIngress: &gardencorev1beta1.NginxIngress{Addon: gardencorev1beta1.Addon{Enabled: true}}}
}

func disk(kind string) func(s *shoot) {
	return func(s *shoot) {
		s.Spec.Provider.Workers[0].Volume = &gardencorev1beta1.Volume{Type: new(kind), Size: "30Gi"}
	}
}

// TestUsage asks for one shoot beside another one of the same project.
func TestUsage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason        string
		change        []func(*shoot)
		metric        string
		enough, short string
	}{
		"API-QUOTA-3 cpu":      {"processors of all machines there may be", []func(*shoot){three}, "cpu", "8", "7999m"},
		"API-QUOTA-3 gpu":      {"graphics likewise", []func(*shoot){three}, "gpu", "4", "3"},
		"API-QUOTA-3 memory":   {"memory likewise", []func(*shoot){three}, "memory", "16Gi", "15Gi"},
		"API-QUOTA-3 storage":  {"a machine may come with a disk", []func(*shoot){three}, "storage.standard", "80Gi", "79Gi"},
		"API-QUOTA-3 volume":   {"or the pool asks for one", []func(*shoot){disk("slow")}, "storage.standard", "50Gi", "49Gi"},
		"API-QUOTA-3 premium":  {"of either class", []func(*shoot){disk("fast")}, "storage.premium", "30Gi", "29Gi"},
		"API-QUOTA-3 balancer": {"each shoot has a load balancer", nil, "loadbalancer", "2", "1"},
		"API-QUOTA-3 ingress":  {"and another for its ingress", []func(*shoot){nginx}, "loadbalancer", "3", "2"},
	} {
		admissiontest.Run(t, shootquotavalidator.New, map[string]admissiontest.Case{
			name + " enough": {Reason: tc.reason, Objects: garden(quota("Project", nil, tc.metric, tc.enough)), Request: admissiontest.Request{Object: admissiontest.Shoot(tc.change...)}},
			name + " short":  {Reason: tc.reason, Objects: garden(quota("Project", nil, tc.metric, tc.short)), Request: admissiontest.Request{Object: admissiontest.Shoot(tc.change...)}, Refused: []string{"garden-trial/trial", tc.metric}},
		})
	}
}

// TestManyMachines_API_QUOTA_3 asks for as many machines as the field can tell. To count one after the other would take the server minutes.
func TestManyMachines_API_QUOTA_3(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, garden(quota("Project", nil, "cpu", "8"))...)
	rule := shootquotavalidator.New(g.World)
	answer := make(chan error, 1)
	go func() {
		answer <- g.Ask(rule, admissiontest.Request{Object: admissiontest.Shoot(func(s *shoot) { s.Spec.Provider.Workers[0].Maximum = math.MaxInt32 })})
	}()
	select {
	case err := <-answer:
		if err == nil || !strings.Contains(err.Error(), "cpu (4294967294 here and 2 by other shoots, of 8)") {
			t.Errorf("got %v, want that the quota is exceeded, and by how much", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the answer takes longer than 5s")
	}
}

func TestScope(t *testing.T) {
	t.Parallel()
	create := admissiontest.Request{Object: admissiontest.Shoot()}
	unbound := admissiontest.Shoot(func(s *shoot) { s.Spec.CredentialsBindingName = nil })
	former := admissiontest.Binding(func(b *gardencorev1beta1.SecretBinding) {
		b.Quotas = []corev1.ObjectReference{{Namespace: "garden-trial", Name: "trial"}}
	})
	odd := admissiontest.Shoot(func(s *shoot) { s.Spec.Provider.Workers[0].Machine.Type = "odd" })
	admissiontest.Run(t, shootquotavalidator.New, map[string]admissiontest.Case{
		"API-QUOTA-4 project":     {Reason: "shoots of other projects do not count", Objects: garden(quota("Project", nil, "cpu", "4")), Request: create},
		"API-QUOTA-4 secret":      {Reason: "those with the same credentials do, wherever they are", Objects: garden(quota("Secret", nil, "cpu", "5")), Request: create, Refused: []string{"cpu (2 here and 4 by other shoots, of 5)"}},
		"API-QUOTA-4 equal":       {Reason: "all of it may be taken", Objects: garden(quota("Secret", nil, "cpu", "6")), Request: create},
		"API-QUOTA-4 metrics":     {Reason: "only what the quota names counts", Objects: garden(quota("Secret", nil, "loadbalancer", "9")), Request: create},
		"API-QUOTA-4 all metrics": {Reason: "everything that is too much is told", Objects: garden(quota("Secret", nil, "cpu", "1", "loadbalancer", "1")), Request: create, Refused: []string{"cpu", "loadbalancer"}},
		"API-QUOTA-1 former":      {Reason: "the older bindings have quotas as well", Objects: append(garden(quota("Project", nil, "cpu", "3")), former), Request: admissiontest.Request{Object: admissiontest.Shoot(admissiontest.Formerly)}, Refused: []string{"cpu"}},
		"API-QUOTA-1 no binding":  {Reason: "without credentials there is no quota", Objects: garden(quota("Project", nil, "cpu", "1")), Request: admissiontest.Request{Object: unbound}},
		"API-QUOTA-3 unknown":     {Reason: "what is unknown cannot be counted", Objects: garden(quota("Project", nil, "cpu", "9")), Request: admissiontest.Request{Object: odd}, As: metav1.StatusReasonInternalError, Refused: []string{`"odd"`}},
	})
}

// TestRequestsAtOnce has shoots that are allowed and not written yet.
func TestRequestsAtOnce_API_QUOTA_4(t *testing.T) {
	t.Parallel()
	want, got := map[string]bool{}, map[string]bool{}
	for name, tc := range map[string]struct {
		scope, most string
		other       bool
	}{
		"of a project":           {scope: "Project", most: "4"},
		"of another project":     {scope: "Project", most: "4", other: true},
		"of any project":         {scope: "Secret", most: "6"},
		"of shoots that are not": {scope: "Secret", most: "8", other: true},
	} {
		g := admissiontest.New(t, nil, garden(quota(tc.scope, nil, "cpu", tc.most))...)
		rule := shootquotavalidator.New(g.World)
		if err := g.Ask(rule, admissiontest.Request{Object: admissiontest.Shoot()}); err != nil {
			t.Errorf("%s: the first one fits: %v", name, err)
		}
		second := admissiontest.Shoot(func(s *shoot) { s.Name = "second" })
		if tc.other {
			second.Namespace = "garden-other"
		}
		want[name], got[name] = tc.other, g.Ask(rule, admissiontest.Request{Object: second}) == nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("whether the second one is allowed (-want +got):\n%s", diff)
	}
}

func TestUpdates(t *testing.T) {
	t.Parallel()
	second := func(s *shoot) {
		pool := *s.Spec.Provider.Workers[0].DeepCopy()
		pool.Name = "two"
		s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, pool)
	}
	going := admissiontest.Shoot(three)
	going.DeletionTimestamp = new(metav1.Now())
	tight := garden(quota("Project", nil, "cpu", "1"))
	update := func(change ...func(*shoot)) admissiontest.Request {
		return admissiontest.Request{Object: admissiontest.Shoot(change...), Old: admissiontest.Shoot()}
	}
	admissiontest.Run(t, shootquotavalidator.New, map[string]admissiontest.Case{
		"API-QUOTA-1 deletion":  {Reason: "a shoot that is going uses less and less", Objects: tight, Request: admissiontest.Request{Object: going, Old: admissiontest.Shoot()}},
		"API-QUOTA-2 unchanged": {Reason: "who uses no more is not asked", Objects: tight, Request: update()},
		"API-QUOTA-2 less":      {Reason: "a smaller minimum is no use", Objects: tight, Request: update(func(s *shoot) { s.Spec.Provider.Workers[0].Minimum = 0 })},
		"API-QUOTA-2 maximum":   {Reason: "a larger maximum is", Objects: tight, Request: update(three), Refused: []string{"cpu"}},
		"API-QUOTA-2 pool":      {Reason: "a pool is", Objects: tight, Request: update(second), Refused: []string{"cpu"}},
		"API-QUOTA-2 machine":   {Reason: "another machine is", Objects: tight, Request: admissiontest.Request{Object: admissiontest.Shoot(), Old: admissiontest.Shoot(func(s *shoot) { s.Spec.Provider.Workers[0].Machine.Type = "large" })}, Refused: []string{"cpu"}},
		"API-QUOTA-2 volume":    {Reason: "a volume is", Objects: tight, Request: update(disk("slow")), Refused: []string{"cpu"}},
		"API-QUOTA-2 binding":   {Reason: "another binding is, which may have another quota", Objects: append(tight, admissiontest.Credentials(func(b *gardensecurityv1alpha1.CredentialsBinding) { b.Name = "free" })), Request: admissiontest.Request{Object: admissiontest.Shoot(), Old: admissiontest.Shoot(func(s *shoot) { s.Spec.CredentialsBindingName = new("free") })}, Refused: []string{"cpu"}},
		"API-QUOTA-2 ingress":   {Reason: "an ingress is", Objects: tight, Request: update(nginx), Refused: []string{"cpu"}},
		"API-QUOTA-4 itself":    {Reason: "a shoot is not counted twice", Objects: slices.Concat(garden(quota("Project", nil, "cpu", "8")), []kind.Object{admissiontest.Shoot()}), Request: update(three)},
	})
}

func TestLifetime(t *testing.T) {
	t.Parallel()
	until := func(when string) func(s *shoot) {
		return func(s *shoot) {
			s.Annotations = map[string]string{"shoot.gardener.cloud/expiration-timestamp": when}
		}
	}
	// It is 2030-01-02T03:04:05Z in these tests.
	const latest, later = "2030-01-09T03:04:05Z", "2030-01-09T03:04:06Z"
	week := garden(quota("Project", new(int32(7))))
	update := func(now, before string) admissiontest.Request {
		return admissiontest.Request{Object: admissiontest.Shoot(until(now)), Old: admissiontest.Shoot(until(before))}
	}
	rebound := func(by string) admissiontest.Request {
		return admissiontest.Request{User: by, Object: admissiontest.Shoot(until(later)), Old: admissiontest.Shoot(until(later), func(s *shoot) { s.Spec.CredentialsBindingName = new("free") })}
	}
	admissiontest.Run(t, shootquotavalidator.New, map[string]admissiontest.Case{
		"API-QUOTA-5 latest":    {Reason: "the last moment belongs to it", Objects: week, Request: update(latest, "2030-01-03T00:00:00Z")},
		"API-QUOTA-5 later":     {Reason: "a moment more does not", Objects: week, Request: update(later, "2030-01-03T00:00:00Z"), Refused: []string{"expiration-timestamp", "7 days", latest}},
		"API-QUOTA-5 create":    {Reason: "a new shoot may ask too much as well", Objects: week, Request: admissiontest.Request{Object: admissiontest.Shoot(until(later))}, Refused: []string{"7 days"}},
		"API-QUOTA-5 unchanged": {Reason: "what was allowed stays", Objects: week, Request: update(later, later)},
		"API-QUOTA-5 binding":   {Reason: "but not with another binding", Objects: week, Request: rebound("rose"), Refused: []string{"7 days"}},
		"API-QUOTA-5 exchange":  {Reason: "the garden exchanges one for another with the same quotas", Objects: week, Request: rebound("system:apiserver")},
		"API-QUOTA-5 no limit":  {Reason: "a quota may say nothing about it", Objects: garden(quota("Project", nil)), Request: update(later, latest)},
		"API-QUOTA-5 garbage":   {Reason: "a time is a time", Objects: week, Request: update("tomorrow", latest), Refused: []string{`"tomorrow"`}},
	})
}
