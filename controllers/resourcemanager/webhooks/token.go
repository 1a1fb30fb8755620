// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const (
	labelSkipToken            = "projected-token-mount.resources.gardener.cloud/skip"
	annotationTokenExpiration = "projected-token-mount.resources.gardener.cloud/expiration-seconds"

	// tokenVolumePrefix begins the name of every volume with a token, also of those that Kubernetes adds.
	tokenVolumePrefix = "kube-api-access-"
	tokenVolume       = tokenVolumePrefix + "gardener"
	tokenPath         = "/var/run/secrets/kubernetes.io/serviceaccount" //nolint:gosec // It is a path.
	tokenMode         = 0o644
	// nobody is the group that owns the token in pods that do not run as root.
	nobody = 65534
)

// needsToken leaves out pods without a service account of their own, those that want no token, and those that have one already: the API
// server mounts tokens before it asks.
func needsToken() []admissionregistrationv1.MatchCondition {
	return []admissionregistrationv1.MatchCondition{
		{Name: "named-account", Expression: "has(object.spec.serviceAccountName) && !(object.spec.serviceAccountName in ['', 'default'])"},
		{Name: "wants-token", Expression: "!has(object.spec.automountServiceAccountToken) || object.spec.automountServiceAccountToken"},
		{Name: "has-no-token", Expression: "!has(object.spec.volumes) || !object.spec.volumes.exists(v, v.name.startsWith('" + tokenVolumePrefix + "'))"},
	}
}

// mountTokens gives pods a token of their service account, if that does not mount one by itself (GRM-WH-PROJ-1).
func mountTokens(d *Decider) admission.Handler {
	return mutate(func(ctx context.Context, request admission.Request, pod *corev1.Pod) error {
		if !wantsToken(pod) {
			return nil
		}
		cluster, err := d.reader(ctx)
		if err != nil {
			return err
		}
		account := &corev1.ServiceAccount{}
		key := client.ObjectKey{Namespace: request.Namespace, Name: pod.Spec.ServiceAccountName}
		if err := cluster.Get(ctx, key, account); err != nil {
			return fmt.Errorf("get service account %q: %w", key, err)
		}
		if account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken {
			return nil
		}
		seconds, err := tokenExpiration(pod, int64(cmp.Or(d.TokenExpiration, DefaultTokenExpiration).Seconds()))
		if err != nil {
			return err
		}
		mountToken(pod, seconds)
		return nil
	})
}

func wantsToken(pod *corev1.Pod) bool {
	mounts := pod.Spec.AutomountServiceAccountToken == nil || *pod.Spec.AutomountServiceAccountToken
	return pod.Labels[labelSkipToken] != "true" && mounts && pod.Spec.ServiceAccountName != "" && pod.Spec.ServiceAccountName != "default" &&
		!slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return strings.HasPrefix(v.Name, tokenVolumePrefix) })
}

// tokenExpiration is how long a pod wants its token to be valid (GRM-WH-PROJ-3).
func tokenExpiration(pod *corev1.Pod, otherwise int64) (int64, error) {
	given, found := pod.Annotations[annotationTokenExpiration]
	if !found {
		return otherwise, nil
	}
	seconds, err := strconv.ParseInt(given, 10, 64)
	if err != nil {
		return 0, invalidError{fmt.Errorf("annotation %s: %q is not a number of seconds", annotationTokenExpiration, given)}
	}
	return seconds, nil
}

// mountToken mounts a token, the CA and the namespace where clients look for them (GRM-WH-PROJ-2). A container that mounts something
// else there keeps it.
func mountToken(pod *corev1.Pod, seconds int64) {
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: tokenVolume, VolumeSource: corev1.VolumeSource{
		Projected: &corev1.ProjectedVolumeSource{DefaultMode: new(int32(tokenMode)), Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: &seconds}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
			}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{
				Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"},
			}}}},
		}},
	}})
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if slices.ContainsFunc(containers[i].VolumeMounts, func(m corev1.VolumeMount) bool { return strings.TrimRight(m.MountPath, "/") == tokenPath }) {
				continue
			}
			containers[i].VolumeMounts = append(containers[i].VolumeMounts, corev1.VolumeMount{Name: tokenVolume, MountPath: tokenPath, ReadOnly: true})
		}
	}
	// Without a group, only root could read the token (GRM-WH-PROJ-4).
	if security := pod.Spec.SecurityContext; security != nil && security.RunAsNonRoot != nil && *security.RunAsNonRoot && security.FSGroup == nil {
		security.FSGroup = new(int64(nobody))
	}
}
