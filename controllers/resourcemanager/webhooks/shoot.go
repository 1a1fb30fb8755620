// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
)

const (
	// ShootService is the Service in the namespace of a control plane under which its API server reaches the webhooks.
	ShootService = "gardener-resource-manager"
	hostSuffix   = ".svc"
)

// ShootHost is the name under which the API server of a shoot reaches the webhooks. Each shoot has a name of its own, so that each can
// have a certificate of its own authority, and so that the server knows which shoot it is about.
func ShootHost(namespace string) string { return ShootService + "." + namespace + hostSuffix }

// shootOf is the namespace of the shoot that a host name belongs to; empty for that of the seed.
func shootOf(host string) string {
	namespace, ours := strings.CutPrefix(strings.TrimSuffix(host, hostSuffix), ShootService+".")
	if !ours || !strings.HasPrefix(namespace, gardencorev1beta1.NamespacePrefixShoot) || strings.Contains(namespace, ".") || !strings.HasSuffix(host, hostSuffix) {
		return ""
	}
	return namespace
}

// shootKey is the key of the namespace of a shoot in the context of a request.
type shootKey struct{}

// reader reads the cluster that a request is about.
func (d *Decider) reader(ctx context.Context) (client.Reader, error) {
	namespace, ok := ctx.Value(shootKey{}).(string)
	if !ok {
		return d.Seed, nil
	}
	if d.Shoot == nil {
		return nil, errors.New("this server knows no shoots")
	}
	return d.Shoot(ctx, namespace)
}

// forShoots gives each shoot its own certificate in the handshake; all others get that of the seed.
func forShoots(certificate func(ctx context.Context, namespace string) (*tls.Certificate, error)) func(*tls.Config) {
	return func(config *tls.Config) {
		config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			namespace := shootOf(hello.ServerName)
			if namespace == "" {
				return nil, nil //nolint:nilnil // nil says that the configuration stays.
			}
			found, err := certificate(hello.Context(), namespace)
			if err != nil {
				return nil, err
			}
			return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: config.NextProtos, Certificates: []tls.Certificate{*found}}, nil
		}
	}
}

// inShoots are the webhooks of every shoot. They are about the pods of system components only: those of owners start without them.
func inShoots() []hook {
	return []hook{
		{
			name: "projected-token-mount", path: pathToken, mutating: true, decide: mountTokens,
			rules: creations("", "pods"), namespaces: ofSystem(), objects: ofGardener(labelSkipToken, metav1.LabelSelectorOpNotIn, "true"), conditions: needsToken(),
		},
		{
			name: "seccomp-profile", path: pathSeccomp, mutating: true, decide: defaultSeccomp,
			rules: creations("", "pods"), namespaces: ofSystem(), objects: ofGardener(labelSkipSeccomp, metav1.LabelSelectorOpDoesNotExist), conditions: needsSeccomp(),
		},
		{
			name: "pod-topology-spread-constraints", path: pathSpread, mutating: true, ignored: true, decide: spreadByHash,
			rules: creations("", "pods"), namespaces: ofSystem(), objects: ofGardener(labelSkipSpread, metav1.LabelSelectorOpDoesNotExist), conditions: needsSpread(),
		},
		{
			name: "system-components-config", path: "/webhooks/system-components-config", mutating: true, decide: placeSystemPods,
			rules: creations("", "pods"), namespaces: ofSystem(), objects: ofGardener(labelSkipSystem, metav1.LabelSelectorOpNotIn, "true"), conditions: notOfDaemonSets(),
		},
	}
}

// ofSystem selects the namespace of system components.
func ofSystem() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{gardencorev1beta1.LabelPurpose: metav1.NamespaceSystem}}
}

// ofGardener selects what the resource manager has applied, unless it has a label.
func ofGardener(label string, operator metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: label, Operator: operator, Values: values},
		{Key: gardencorev1beta1.LabelManagedBy, Operator: metav1.LabelSelectorOpIn, Values: []string{gardenresourcesv1alpha1.ManagedByGardener}},
	}}
}
