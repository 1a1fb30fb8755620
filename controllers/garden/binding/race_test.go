// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/binding"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// of is a SecretBinding for another account.
func of(account string, b *gardencorev1beta1.SecretBinding) *gardencorev1beta1.SecretBinding {
	b.SecretRef.Name = account
	return b
}

// TestNamedAgain_GCM_SECRETBINDING_2 has a binding come at the worst moment: the credentials are marked when it looks, and the marks go after.
func TestNamedAgain_GCM_SECRETBINDING_2(t *testing.T) {
	t.Parallel()
	const held = "secretbinding @local ~secretbinding"
	cases := map[string]struct {
		reason string
		late   *gardencorev1beta1.SecretBinding
		again  bool
		// account and small are the marks after the next pass.
		account, small string
	}{
		"Account": {reason: "it names the same account", late: secretBinding("late"), again: true, account: held},
		"Quota":   {reason: "it names the same quota", late: of("other", secretBinding("late", "small")), again: true, small: "~secretbinding"},
		"Neither": {reason: "it is none of this one's business", late: of("other", secretBinding("late", "large"))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			account, other := &corev1.Secret{ObjectMeta: meta("account")}, &corev1.Secret{ObjectMeta: meta("other")}
			small, large := &gardencorev1beta1.Quota{ObjectMeta: meta("small")}, &gardencorev1beta1.Quota{ObjectMeta: meta("large")}
			leaving := secretBinding("leaving", "small")
			c := newClient(t, account, other, small, large, leaving, of("other", secretBinding("there", "large")))
			whole, protection := &kit.Base{Client: c, Reader: c}, binding.Protection(binding.Secret())
			if err := protection.Hold(t.Context(), whole, leaving); err != nil {
				t.Fatal(err)
			}
			come := interceptor.NewClient(c, interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, o ...client.PatchOption) error {
					if late := tc.late; late.ResourceVersion == "" && (name != "Quota" || object.GetName() == "small") {
						if err := errors.Join(c.Create(ctx, late), protection.Hold(ctx, whole, late)); err != nil {
							return err
						}
					}
					return c.Patch(ctx, object, patch, o...)
				},
			})
			if err := protection.Free(t.Context(), &kit.Base{Client: come, Reader: c}, leaving); (err != nil) != tc.again {
				t.Errorf("%s\nFree(...) = %v, want another pass: %t", tc.reason, err, tc.again)
			}
			if err := protection.Free(t.Context(), whole, leaving); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff([]string{tc.account, tc.small}, []string{marks(t, c, account), marks(t, c, small)}); diff != "" {
				t.Errorf("%s\nmarks after the next pass (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAbsent_GCM_SECRETBINDING_1_2 holds and releases what is not there.
func TestAbsent_GCM_SECRETBINDING_1_2(t *testing.T) {
	t.Parallel()
	account, b := &corev1.Secret{ObjectMeta: meta("account")}, secretBinding("one", "absent")
	elsewhere := credentialsBinding("elsewhere", "v1", "Secret", "other")
	elsewhere.Provider.Type = "local"
	c := newClient(t, account, b, elsewhere)
	garden, protection := &kit.Base{Client: c, Reader: c}, binding.Protection(binding.Secret())
	if err := protection.Hold(t.Context(), garden, b); err != nil {
		t.Errorf("Hold(...) = %v, but credentials are protected without their quota, too", err)
	}
	if diff := cmp.Diff("secretbinding @local ~secretbinding", marks(t, c, account)); diff != "" {
		t.Errorf("marks of the credentials (-want +got):\n%s", diff)
	}
	if err := protection.Free(t.Context(), garden, b); err != nil {
		t.Errorf("Free(...) = %v, but a quota that is gone blocks nothing", err)
	}
	if got := marks(t, c, account); got != "" {
		t.Errorf("Bindings of the other kind only keep the provider of credentials that they name.\nmarks %q, want none", got)
	}
	if err := protection.Hold(t.Context(), garden, of("absent", b)); err == nil {
		t.Error("credentials that are not there cannot be protected, so the next pass has to try again")
	}
}

// TestFailures_GCM_SECRETBINDING_2 has one read or write fail. The finalizer of the binding stays until all is done.
func TestFailures_GCM_SECRETBINDING_2(t *testing.T) {
	t.Parallel()
	errBoom := errors.New("boom")
	cases := map[string]struct {
		reason string
		// fails is what fails, after it has gone well some times.
		fails string
		time  int
		hold  bool
	}{
		"HoldSecret":    {reason: "the credentials are not protected yet", fails: "patch account", hold: true},
		"HoldUnread":    {reason: "nor when they cannot be read", fails: "get account", hold: true},
		"HoldQuota":     {reason: "a quota that cannot be marked may be there", fails: "patch small", hold: true},
		"FreeBindings":  {reason: "others may name the same", fails: "list *v1beta1.SecretBindingList"},
		"FreeOthers":    {reason: "those of the other kind may need the label of the provider", fails: "list *v1alpha1.CredentialsBindingList"},
		"FreeSecret":    {reason: "the credentials are still held", fails: "patch account"},
		"FreeQuota":     {reason: "the quota is still marked", fails: "patch small"},
		"FreeLookAgain": {reason: "another one may have come", fails: "list *v1beta1.SecretBindingList", time: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := secretBinding("one", "small")
			c := newClient(t, &corev1.Secret{ObjectMeta: meta("account")}, &gardencorev1beta1.Quota{ObjectMeta: meta("small")}, b)
			protection, seen := binding.Protection(binding.Secret()), 0
			if !tc.hold {
				if err := protection.Hold(t.Context(), &kit.Base{Client: c, Reader: c}, b); err != nil {
					t.Fatal(err)
				}
			}
			broken := func(what string) error {
				if what != tc.fails {
					return nil
				}
				if seen++; seen != tc.time+1 {
					return nil
				}
				return errBoom
			}
			less := interceptor.NewClient(c, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
					if err := broken("get " + key.Name); err != nil {
						return err
					}
					return c.Get(ctx, key, o, options...)
				},
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if err := broken(fmt.Sprintf("list %T", list)); err != nil {
						return err
					}
					return c.List(ctx, list, options...)
				},
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
					if err := broken("patch " + o.GetName()); err != nil {
						return err
					}
					return c.Patch(ctx, o, patch, options...)
				},
			})
			step := protection.Free
			if tc.hold {
				step = protection.Hold
			}
			if err := step(t.Context(), &kit.Base{Client: less, Reader: less}, b); !errors.Is(err, errBoom) {
				t.Errorf("%s\ngot %v, want %v", tc.reason, err, errBoom)
			}
		})
	}
}
