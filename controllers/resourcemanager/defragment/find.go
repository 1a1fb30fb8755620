// SPDX-License-Identifier: Apache-2.0

package defragment

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// clientPort is the name that the port for clients has in the pods of an etcd.
const clientPort = "client"

var (
	errNotAllRun     = errors.New("not all members run")
	errNoCertificate = errors.New("the authority is no certificate")
)

// defragment defragments an etcd. One that sleeps, goes away or is gone is done.
func (r *Reconciler) defragment(ctx context.Context, key client.ObjectKey) error {
	set := &appsv1.StatefulSet{}
	if err := r.Seed.Get(ctx, key, set); err != nil {
		return client.IgnoreNotFound(err)
	}
	if set.DeletionTimestamp != nil || ptr.Deref(set.Spec.Replicas, 1) == 0 {
		return nil
	}
	endpoints, err := r.endpoints(ctx, set)
	if err != nil {
		return err
	}
	credentials, err := r.credentials(ctx, set)
	if err != nil {
		return err
	}
	members, err := connect(ctx, endpoints, credentials)
	if err != nil {
		return err
	}
	defer members.close()
	return defragment(ctx, ctrl.LoggerFrom(ctx), members, room(set))
}

// endpoints are where all members of an etcd are reached.
func (r *Reconciler) endpoints(ctx context.Context, set *appsv1.StatefulSet) ([]string, error) {
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("read the selector of StatefulSet %q: %w", client.ObjectKeyFromObject(set), err)
	}
	pods := &corev1.PodList{}
	if err := r.Seed.List(ctx, pods, client.InNamespace(set.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, fmt.Errorf("list pods of StatefulSet %q: %w", client.ObjectKeyFromObject(set), err)
	}
	var endpoints []string
	for i := range pods.Items {
		pod := &pods.Items[i]
		if port := portOf(pod); port != "" && pod.Status.PodIP != "" && pod.DeletionTimestamp == nil && metav1.IsControlledBy(pod, set) {
			endpoints = append(endpoints, "https://"+net.JoinHostPort(pod.Status.PodIP, port))
		}
	}
	if want := int(ptr.Deref(set.Spec.Replicas, 1)); len(endpoints) != want {
		return nil, fmt.Errorf("%w: %d of %d have an address", errNotAllRun, len(endpoints), want)
	}
	slices.Sort(endpoints)
	return endpoints, nil
}

// portOf is the port for clients of a member, or empty.
func portOf(pod *corev1.Pod) string {
	for i := range pod.Spec.Containers {
		for _, port := range pod.Spec.Containers[i].Ports {
			if port.Name == clientPort {
				return strconv.Itoa(int(port.ContainerPort))
			}
		}
	}
	return ""
}

// credentials are those of a client of an etcd. Its members are known under the name of their Service, whatever addresses they have.
func (r *Reconciler) credentials(ctx context.Context, set *appsv1.StatefulSet) (*tls.Config, error) {
	certificate, err := r.secret(ctx, set, gardencorev1beta1.AnnotationETCDClientCertificate)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate.Data[secrets.DataKeyCertificate], certificate.Data[secrets.DataKeyPrivateKey])
	if err != nil {
		return nil, fmt.Errorf("read the certificate in Secret %q: %w", client.ObjectKeyFromObject(certificate), err)
	}
	authority, err := r.secret(ctx, set, gardencorev1beta1.AnnotationETCDAuthority)
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(authority.Data[gardencorev1beta1.DataKeyCertificateBundle]) {
		return nil, fmt.Errorf("read Secret %q: %w", client.ObjectKeyFromObject(authority), errNoCertificate)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{pair}, RootCAs: trusted, MinVersion: tls.VersionTLS12,
		ServerName: set.Spec.ServiceName + "." + set.Namespace + ".svc",
	}, nil
}

// secret is the Secret that an annotation of an etcd names.
func (r *Reconciler) secret(ctx context.Context, set *appsv1.StatefulSet, annotation string) (*corev1.Secret, error) {
	secret, key := &corev1.Secret{}, client.ObjectKey{Namespace: set.Namespace, Name: set.Annotations[annotation]}
	if err := r.Seed.Get(ctx, key, secret); err != nil {
		return nil, fmt.Errorf("get the Secret that the annotation %s names: %w", annotation, err)
	}
	return secret, nil
}

// room is how large the database and its copy may be together: the volume without what logs and snapshots take. It is 0 for a volume without
// a size.
func room(set *appsv1.StatefulSet) int64 {
	if len(set.Spec.VolumeClaimTemplates) == 0 {
		return 0
	}
	return set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().Value() / 10 * 9
}
