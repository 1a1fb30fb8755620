// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/terrarium-garden/terrarium/apis/scheme"
)

// TestRotateMonitoring_OPER_ROT_8 asks for another password while the controller ends an earlier rotation: it writes the Secret after it was
// read, and before the operation is written to it.
func TestRotateMonitoring_OPER_ROT_8(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "garden", Name: "observability-ingress", Labels: map[string]string{"gardener.cloud/role": "global-monitoring"},
	}}
	ended := false
	c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(secret).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			if !ended {
				ended = true
				other := &corev1.Secret{}
				if err := c.Get(ctx, client.ObjectKeyFromObject(secret), other); err != nil {
					return err
				}
				other.Data = map[string][]byte{"password": []byte("new")}
				if err := c.Update(ctx, other); err != nil {
					return err
				}
			}

			return c.Patch(ctx, o, p, options...)
		},
	}).Build()
	reader := client.Reader(c)
	m := monitoring{live: func() *client.Reader { return &reader }, writer: func() (client.Client, error) { return c, nil }}
	if err := m.rotate(t.Context()); err != nil {
		t.Errorf("rotate(...) = %v, want that it is tried again with what the controller has written", err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
		t.Fatal(err)
	}
	got := []string{secret.Annotations["gardener.cloud/operation"], string(secret.Data["password"])}
	if diff := cmp.Diff([]string{"rotate-observability-credentials", "new"}, got); diff != "" {
		t.Errorf("the operation, and the password of the earlier rotation (-want +got):\n%s", diff)
	}
}
