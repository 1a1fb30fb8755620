// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"fmt"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/inshoot"
)

const (
	reasonApproved = "KubeletServingCertificateApproved"
	reasonDenied   = "KubeletServingCertificateDenied"
	// labelNode is the label of a Machine with the name of its Node.
	labelNode = "node"
	// approval is the subresource for decisions.
	approval = "approval"
)

// Followed are the requests for serving certificates in every shoot, on which it is decided. seed reads the seed without a cache.
func Followed(seed client.Reader) inshoot.Kind {
	return inshoot.Kind{
		Name: "kubelet-serving-certificates",
		List: func() client.ObjectList { return &certificatesv1.CertificateSigningRequestList{} },
		Options: []client.ListOption{
			client.MatchingFields{"spec.signerName": certificatesv1.KubeletServingSignerName},
		},
		Act: func(ctx context.Context, shoot inshoot.Shoot, object client.Object) (bool, error) {
			request, ok := object.(*certificatesv1.CertificateSigningRequest)
			if !ok {
				return false, nil
			}
			return false, Decider{Seed: seed, Namespace: shoot.Namespace, Shoot: shoot}.Decide(ctx, request)
		},
	}
}

// FollowedAgents are the requests of node agents for client certificates in every shoot, on which it is decided. seed reads the seed without
// a cache.
func FollowedAgents(seed client.Reader) inshoot.Kind {
	kind := Followed(seed)
	kind.Name = "node-agent-certificates"
	kind.Options = []client.ListOption{client.MatchingFields{"spec.signerName": certificatesv1.KubeAPIServerClientSignerName}}
	return kind
}

// Decider decides on the requests of one shoot.
type Decider struct {
	// Seed has the machines of the shoot in the namespace of its control plane, if they are objects there.
	Seed      client.Reader
	Namespace string
	// Shoot has the requests and the nodes.
	Shoot client.Client
}

// verdict is the decision on a request: approved, unless there is a reason why not.
type verdict struct {
	why              error
	approved, denied string
	message          string
}

// Decide approves or denies a request, unless that has been done already, or it is for others to decide.
func (d Decider) Decide(ctx context.Context, request *certificatesv1.CertificateSigningRequest) error {
	if len(request.Status.Certificate) > 0 || decided(request) {
		return nil
	}
	var v *verdict
	var err error
	switch request.Spec.SignerName {
	case certificatesv1.KubeletServingSignerName:
		v = &verdict{approved: reasonApproved, denied: reasonDenied, message: "The names and addresses are those of the node that asks"}
		v.why, err = d.judge(ctx, request)
	case certificatesv1.KubeAPIServerClientSignerName:
		v, err = d.judgeAgent(ctx, request)
	}
	if err != nil {
		return fmt.Errorf("decide on request %q: %w", request.Name, err)
	}
	if v == nil {
		return nil
	}
	return d.write(ctx, request, v)
}

func (d Decider) write(ctx context.Context, request *certificatesv1.CertificateSigningRequest, v *verdict) error {
	condition := certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: v.approved, Message: v.message,
	}
	log := ctrl.LoggerFrom(ctx).WithValues("request", request.Name, "user", request.Spec.Username)
	if v.why != nil {
		condition.Type, condition.Reason, condition.Message = certificatesv1.CertificateDenied, v.denied, "The request was denied: "+v.why.Error()
		log = log.WithValues("reason", v.why.Error())
	}
	request = request.DeepCopy()
	request.Status.Conditions = append(request.Status.Conditions, condition)
	err := d.Shoot.SubResource(approval).Update(ctx, request)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // It is gone, or comes again with what has changed.
	}
	if err != nil {
		return fmt.Errorf("decide on request %q: %w", request.Name, err)
	}
	log.Info("Decided on a request for a certificate of a node", "decision", condition.Type, "signer", request.Spec.SignerName)
	return nil
}

// judge returns why the request has to be denied, or nil.
func (d Decider) judge(ctx context.Context, request *certificatesv1.CertificateSigningRequest) (why, err error) {
	nodes := &corev1.NodeList{}
	if err := d.Shoot.List(ctx, nodes); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	if why := Judge(request, nodes.Items); why != nil {
		return why, nil
	}
	return d.checkMachine(ctx, strings.TrimPrefix(request.Spec.Username, nodeUserPrefix))
}

// checkMachine returns why no machine stands for a node, or nil. It knows only machines that are objects of the seed: a namespace
// without machine deployments belongs to a provider that makes its machines in another way.
func (d Decider) checkMachine(ctx context.Context, node string) (why, err error) {
	deployments, err := d.machines(ctx, "MachineDeployment", client.Limit(1))
	if err != nil || deployments == 0 {
		return nil, err
	}
	machines, err := d.machines(ctx, "Machine", client.MatchingLabels{labelNode: node})
	if err != nil {
		return nil, err
	}
	if machines != 1 {
		return fmt.Errorf("%d machines have the label %s=%s, must be one", machines, labelNode, node), nil
	}
	return nil, nil
}

// machines counts objects of a kind of the machine controller manager.
func (d Decider) machines(ctx context.Context, kind string, options ...client.ListOption) (int, error) {
	list := &metav1.PartialObjectMetadataList{}
	err := d.list(ctx, list, kind, options...)
	return len(list.Items), err
}

// list lists objects of that kind. There are none in a seed that does not know it.
func (d Decider) list(ctx context.Context, list *metav1.PartialObjectMetadataList, kind string, options ...client.ListOption) error {
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "machine.sapcloud.io", Version: "v1alpha1", Kind: kind + "List"})
	err := d.Seed.List(ctx, list, append(options, client.InNamespace(d.Namespace))...)
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list %ss: %w", kind, err)
	}
	return nil
}

func decided(request *certificatesv1.CertificateSigningRequest) bool {
	for _, c := range request.Status.Conditions {
		if c.Type == certificatesv1.CertificateApproved || c.Type == certificatesv1.CertificateDenied || c.Type == certificatesv1.CertificateFailed {
			return true
		}
	}
	return false
}
