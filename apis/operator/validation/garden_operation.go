// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
)

// onceMinor is the minor version of Kubernetes from which on the key that encrypts etcd is rotated in one step.
const onceMinor = 34

// credential is a credential of the garden that is rotated in two steps.
type credential int

const (
	authorities credential = iota
	serviceAccountKey
	encryptionKey
	workloadIdentityKey
)

// rotation returns the credentials whose rotation an operation starts or completes (OPER-ROT-1, 4).
type rotation struct {
	complete bool
	of       []credential
}

func rotationOf(operation string) (rotation, bool) {
	all := []credential{authorities, serviceAccountKey, encryptionKey, workloadIdentityKey}
	r, ok := map[string]rotation{
		gardencorev1beta1.OperationRotateCredentialsStart:                 {of: all},
		gardencorev1beta1.OperationRotateCredentialsComplete:              {of: all, complete: true},
		gardencorev1beta1.OperationRotateCAStart:                          {of: []credential{authorities}},
		gardencorev1beta1.OperationRotateCAComplete:                       {of: []credential{authorities}, complete: true},
		gardencorev1beta1.OperationRotateServiceAccountKeyStart:           {of: []credential{serviceAccountKey}},
		gardencorev1beta1.OperationRotateServiceAccountKeyComplete:        {of: []credential{serviceAccountKey}, complete: true},
		gardencorev1beta1.OperationRotateETCDEncryptionKey:                {of: []credential{encryptionKey}},
		gardencorev1beta1.OperationRotateETCDEncryptionKeyStart:           {of: []credential{encryptionKey}},
		gardencorev1beta1.OperationRotateETCDEncryptionKeyComplete:        {of: []credential{encryptionKey}, complete: true},
		gardenoperatorv1alpha1.OperationRotateWorkloadIdentityKeyStart:    {of: []credential{workloadIdentityKey}},
		gardenoperatorv1alpha1.OperationRotateWorkloadIdentityKeyComplete: {of: []credential{workloadIdentityKey}, complete: true},
	}[operation]
	return r, ok
}

// Covers reports whether an operation on all credentials does what an operation on a single one asks for (OPER-ROT-4).
func Covers(all, single string) bool {
	if single == gardencorev1beta1.OperationRotateObservabilityCredentials {
		return all == gardencorev1beta1.OperationRotateCredentialsStart
	}
	whole, ok := rotationOf(all)
	part, known := rotationOf(single)
	return ok && known && whole.complete == part.complete && len(whole.of) > len(part.of)
}

func knownOperations() []string {
	known := []string{
		gardencorev1beta1.OperationReconcile, gardencorev1beta1.OperationRotateObservabilityCredentials,
		gardencorev1beta1.OperationRotateCredentialsStart, gardencorev1beta1.OperationRotateCredentialsComplete,
		gardencorev1beta1.OperationRotateCAStart, gardencorev1beta1.OperationRotateCAComplete,
		gardencorev1beta1.OperationRotateServiceAccountKeyStart, gardencorev1beta1.OperationRotateServiceAccountKeyComplete,
		gardencorev1beta1.OperationRotateETCDEncryptionKey,
		gardencorev1beta1.OperationRotateETCDEncryptionKeyStart, gardencorev1beta1.OperationRotateETCDEncryptionKeyComplete,
		gardenoperatorv1alpha1.OperationRotateWorkloadIdentityKeyStart,
		gardenoperatorv1alpha1.OperationRotateWorkloadIdentityKeyComplete,
	}
	slices.Sort(known)
	return known
}

// Operations returns the operations that the annotation of a Garden requests, each once, in their order.
func Operations(g *garden) []string {
	var asked []string
	if g == nil {
		return nil
	}
	for op := range strings.SplitSeq(g.Annotations[gardencorev1beta1.AnnotationOperation], gardencorev1beta1.OperationSeparator) {
		if op = strings.TrimSpace(op); op != "" && !slices.Contains(asked, op) {
			asked = append(asked, op)
		}
	}
	return asked
}

// operations checks the requested operations that were not requested before (OPER-WH-5 to 7).
func operations(g, old *garden) field.ErrorList {
	path := field.NewPath("metadata", "annotations").Key(gardencorev1beta1.AnnotationOperation)
	asked, before := Operations(g), Operations(old)
	var errs field.ErrorList
	if slices.Contains(asked, gardencorev1beta1.OperationRotateETCDEncryptionKey) &&
		slices.Contains(asked, gardencorev1beta1.OperationRotateETCDEncryptionKeyStart) {
		errs = append(errs, field.Forbidden(path, gardencorev1beta1.OperationRotateETCDEncryptionKey+" and "+
			gardencorev1beta1.OperationRotateETCDEncryptionKeyStart+" exclude each other"))
	}
	for _, op := range asked {
		errs = append(errs, check.OneOf(op, path, knownOperations()...)...)
		r, ok := rotationOf(op)
		if !ok || slices.Contains(before, op) {
			continue
		}
		errs = append(errs, r.timely(g, op, path)...)
	}
	return errs
}

// timely checks that a rotation can be started or completed now.
func (r rotation) timely(g *garden, op string, path *field.Path) field.ErrorList {
	if g.DeletionTimestamp != nil {
		return field.ErrorList{field.Forbidden(path, op+" is not possible while the Garden is being deleted")}
	}
	inPairs := op == gardencorev1beta1.OperationRotateETCDEncryptionKeyStart || op == gardencorev1beta1.OperationRotateETCDEncryptionKeyComplete
	if inPairs && rotatesOnce(g) {
		return field.ErrorList{field.Forbidden(path, op+" is not possible for this version of Kubernetes, use "+
			gardencorev1beta1.OperationRotateETCDEncryptionKey)}
	}
	var errs field.ErrorList
	for _, c := range r.of {
		phase := phaseOf(g, c)
		switch {
		case r.complete && c == encryptionKey && rotatesOnce(g):
		case r.complete && phase != gardencorev1beta1.CredentialsRotationPhasePrepared:
			errs = append(errs, field.Forbidden(path, op+" is possible only when "+c.String()+" is Prepared"))
		case !r.complete && phase != "" && phase != gardencorev1beta1.CredentialsRotationPhaseCompleted:
			errs = append(errs, field.Forbidden(path, op+" is not possible while "+c.String()+" is "+string(phase)))
		}
	}
	if !r.complete && slices.Contains(r.of, encryptionKey) && encryptionChanging(g) {
		errs = append(errs, field.Forbidden(path, op+" is not possible while a change of the resources to encrypt is being rolled out"))
	}
	return errs
}

// String returns the field of the status that describes a rotation.
func (c credential) String() string {
	return "status.credentials.rotation." + map[credential]string{
		authorities: "certificateAuthorities", serviceAccountKey: "serviceAccountKey", encryptionKey: "etcdEncryptionKey",
		workloadIdentityKey: "workloadIdentityKey",
	}[c]
}

func phaseOf(g *garden, c credential) gardencorev1beta1.CredentialsRotationPhase {
	if g.Status.Credentials == nil || g.Status.Credentials.Rotation == nil {
		return ""
	}
	r := g.Status.Credentials.Rotation
	switch {
	case c == authorities && r.CertificateAuthorities != nil:
		return r.CertificateAuthorities.Phase
	case c == serviceAccountKey && r.ServiceAccountKey != nil:
		return r.ServiceAccountKey.Phase
	case c == encryptionKey && r.ETCDEncryptionKey != nil:
		return r.ETCDEncryptionKey.Phase
	case c == workloadIdentityKey && r.WorkloadIdentityKey != nil:
		return r.WorkloadIdentityKey.Phase
	default:
		return ""
	}
}

func rotatesOnce(g *garden) bool {
	v, err := version.ParseGeneric(g.Spec.VirtualCluster.Kubernetes.Version)
	return err == nil && v.AtLeast(version.MajorMinor(1, onceMinor))
}

// encryptionChanging reports whether the encrypted resources differ from the requested ones. Resources that are always
// encrypted are not compared.
func encryptionChanging(g *garden) bool {
	wanted := sets.New(encrypted(&g.Spec.VirtualCluster)...)
	found := sets.New[string]()
	if c := g.Status.Credentials; c != nil && c.EncryptionAtRest != nil {
		found.Insert(c.EncryptionAtRest.Resources...)
	}
	found.Delete(alwaysEncrypted()...)
	return !wanted.Equal(found)
}

// encrypted returns the resources that a Garden asks to encrypt.
func encrypted(v *gardenoperatorv1alpha1.VirtualCluster) []string {
	var all []string
	if a := v.Kubernetes.KubeAPIServer; a != nil && a.EncryptionConfig != nil {
		all = append(all, a.EncryptionConfig.Resources...)
	}
	if a := v.Gardener.APIServer; a != nil && a.EncryptionConfig != nil {
		all = append(all, a.EncryptionConfig.Resources...)
	}
	return all
}

func alwaysEncrypted() []string {
	return append([]string{"secrets"}, alwaysEncryptedGardenKinds()...)
}

func alwaysEncryptedGardenKinds() []string {
	const suffix = "." + gardencorev1beta1.GroupName
	return []string{"controllerdeployments" + suffix, "controllerregistrations" + suffix, "internalsecrets" + suffix, "shootstates" + suffix}
}
