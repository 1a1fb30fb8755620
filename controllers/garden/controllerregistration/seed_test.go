// SPDX-License-Identifier: Apache-2.0

package controllerregistration_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/controllerregistration"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// domainSecret is a Secret about a domain of the garden.
func domainSecret(namespace, role, provider string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: role + "-" + provider, Labels: map[string]string{"gardener.cloud/role": role},
		Annotations: map[string]string{"dns.gardener.cloud/domain": provider + ".example", "dns.gardener.cloud/provider": provider},
	}}
}

// onSeed is an installation of a registration on seed eu.
func onSeed(name, registered string, change ...func(*installation)) *installation {
	return new(of(name, registered, append(change, func(i *installation) { i.Spec.SeedRef = ref("", "eu") })...))
}

// lookAt makes a pass for seed eu, and returns the events of it.
func lookAt(t *testing.T, c client.Client) (reconcile.Result, []string, error) {
	t.Helper()
	recorder := events.NewFakeRecorder(10)
	r := &controllerregistration.Reconciler{Base: kit.Base{Client: c, Reader: c, Recorder: recorder}}
	result, err := reconcile.AsReconciler(c, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "eu"}})
	var told []string
	for len(recorder.Events) > 0 {
		told = append(told, strings.Join(strings.Fields(<-recorder.Events)[:2], " "))
	}
	return result, told, err
}

// TestSeed_GCM_CR_4_to_9 makes passes for seed eu.
func TestSeed_GCM_CR_4_to_9(t *testing.T) {
	t.Parallel()
	const here = "provider-local in eu"
	leaves := func(i *installation) { i.DeletionTimestamp, i.Finalizers = new(metav1.Now()), []string{"test/held"} }
	named := func(s *shoot) {
		s.Namespace, s.Spec.DNS = "garden-dev", &gardencorev1beta1.DNS{Domain: new("a.route.example")}
	}
	for name, tc := range map[string]struct {
		reason  string
		objects []client.Object
		want    []string
		again   time.Duration
		told    []string
		fails   bool
	}{
		"GCM-CR-4 needed":    {reason: "what the seed needs is installed", objects: []client.Object{new(local()), new(offers("dns", "Extension/dns"))}, want: []string{here}},
		"GCM-CR-5 missing":   {reason: "nothing changes if something is missing", objects: []client.Object{new(offers("dns", "Extension/dns")), onSeed("b", "dns")}, want: []string{"dns in eu"}, told: []string{"Warning ReconcileError"}, fails: true},
		"GCM-CR-5 no backup": {reason: "but for backups, which is told", objects: []client.Object{new(local()), new(bucket("one", "cloud", "eu"))}, want: []string{here}, told: []string{"Warning ExtensionMissing"}},
		"GCM-CR-8 leaving":   {reason: "the old one has to go first", objects: []client.Object{new(local()), onSeed("a", "provider-local", leaves)}, want: []string{here}, again: 5 * time.Second},
		"GCM-CR-9 not needed": {
			reason: "what nobody needs goes, and only here", want: []string{"dns in us", here},
			objects: []client.Object{new(local()), new(offers("dns", "Extension/dns")), onSeed("a", "dns"), onSeed("a2", "dns"), new(of("b", "dns", func(i *installation) { i.Spec.SeedRef = ref("", "us") }))},
		},
		"GCM-CR-3 domains": {
			reason: "the domains of the garden are made by their providers",
			objects: []client.Object{
				new(local()), new(newShoot(named)), new(offers("route", "DNSRecord/route")), new(offers("inside", "DNSRecord/inside")), new(offers("other", "DNSRecord/other")),
				domainSecret("garden", "default-domain", "route"), domainSecret("garden", "internal-domain", "inside"),
				domainSecret("garden", "monitoring", "other"), domainSecret("garden-dev", "default-domain", "other"),
			},
			want: []string{"inside in eu", here, "route in eu"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := garden(t, append(tc.objects, newSeed())...).Build()
			result, told, err := lookAt(t, c)
			if tc.fails != (err != nil) || result.RequeueAfter != tc.again {
				t.Errorf("%s\nReconcile(...) = %v, %v, want an error: %t, and another pass after %s", tc.reason, result, err, tc.fails, tc.again)
			}
			if diff := cmp.Diff(tc.want, installed(t, c)); diff != "" {
				t.Errorf("%s\ninstallations (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.told, told); diff != "" {
				t.Errorf("%s\nevents (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFailures_GCM_CR_7_9 has one read or write fail.
func TestFailures_GCM_CR_7_9(t *testing.T) {
	t.Parallel()
	errBoom := errors.New("boom")
	for name, tc := range map[string]struct {
		reason, fails string
		// told says that it is told, which takes a pass that has begun.
		told bool
	}{
		"Shoots":        {reason: "they may need something", fails: "list *v1beta1.ShootList"},
		"Registrations": {reason: "nothing is offered then, which is not so", fails: "list *v1beta1.ControllerRegistrationList", told: true},
		"Entries":       {reason: "they may need something", fails: "list *v1beta1.BackupEntryList", told: true},
		"Installations": {reason: "they would be made twice", fails: "list *v1beta1.ControllerInstallationList", told: true},
		"Secrets":       {reason: "their domains may need something", fails: "list *v1.PartialObjectMetadataList", told: true},
		"Create":        {reason: "it is not installed", fails: "create *v1beta1.ControllerInstallation", told: true},
		"Patch":         {reason: "it is not installed anew", fails: "patch *v1beta1.ControllerInstallation", told: true},
		"Delete":        {reason: "it is still installed", fails: "delete *v1beta1.ControllerInstallation", told: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := func(verb string, object any) error {
				if fmt.Sprintf("%s %T", verb, object) == tc.fails {
					return errBoom
				}
				return nil
			}
			also := offers("also", "Worker/local")
			objects := []client.Object{newSeed(), new(local()), &also, new(offers("dns", "Extension/dns")), onSeed("a", "also"), onSeed("b", "dns")}
			c := garden(t, objects...).WithInterceptorFuncs(interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if err := broken("list", list); err != nil {
						return err
					}
					return c.List(ctx, list, options...)
				},
				Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
					if err := broken("create", o); err != nil {
						return err
					}
					return c.Create(ctx, o, options...)
				},
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
					if err := broken("patch", o); err != nil {
						return err
					}
					return c.Patch(ctx, o, patch, options...)
				},
				Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
					if err := broken("delete", o); err != nil {
						return err
					}
					return c.Delete(ctx, o, options...)
				},
			}).Build()
			_, told, err := lookAt(t, c)
			if !errors.Is(err, errBoom) {
				t.Errorf("%s\nReconcile(...) = %v, want %v", tc.reason, err, errBoom)
			}
			var want []string
			if tc.told {
				want = []string{"Warning ReconcileError"}
			}
			if diff := cmp.Diff(want, told); diff != "" {
				t.Errorf("%s\nevents (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
