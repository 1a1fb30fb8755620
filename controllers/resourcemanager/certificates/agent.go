// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	agentApproved = "NodeAgentCertificateApproved"
	agentDenied   = "NodeAgentCertificateDenied"
)

// judgeAgent decides on a request for a client certificate. It is nil for one that is not for the agent of a node: others decide on that.
func (d Decider) judgeAgent(ctx context.Context, request *certificatesv1.CertificateSigningRequest) (*verdict, error) {
	content, err := parse(request.Spec.Request)
	if err != nil {
		return nil, nil //nolint:nilnil,nilerr // What cannot be read is not that of an agent.
	}
	node, found := strings.CutPrefix(content.Subject.CommonName, gardencorev1beta1.UserPrefixNodeAgentMachine)
	if !found && !claimsAgent(content.Subject.Organization) {
		return nil, nil //nolint:nilnil // It is not that of an agent.
	}
	v := &verdict{approved: agentApproved, denied: agentDenied, message: "The node that asks has a machine in this worker pool"}
	pool, why := JudgeAgent(request, content, node)
	if v.why = why; why != nil {
		return v, nil //nolint:nilerr // Why it is denied is part of the verdict.
	}
	v.why, err = d.checkPool(ctx, node, pool)
	return v, err
}

func claimsAgent(organizations []string) bool {
	return slices.ContainsFunc(organizations, func(o string) bool {
		return o == gardencorev1beta1.GroupNodeAgents || strings.HasPrefix(o, gardencorev1beta1.GroupPrefixNodeAgentsPool)
	})
}

// JudgeAgent returns the pool of an agent that asks, or why its request has to be denied. Only the kubelet of a node asks for its agent.
func JudgeAgent(request *certificatesv1.CertificateSigningRequest, content *x509.CertificateRequest, node string) (pool string, why error) {
	if node == "" || request.Spec.Username != nodeUserPrefix+node || !slices.Contains(request.Spec.Groups, nodeGroup) {
		return "", fmt.Errorf("it is for node %q and not from it: the user is %q", node, request.Spec.Username)
	}
	for _, o := range content.Subject.Organization {
		if name, found := strings.CutPrefix(o, gardencorev1beta1.GroupPrefixNodeAgentsPool); found {
			pool = name
		}
	}
	groups := slices.Sorted(slices.Values(content.Subject.Organization))
	want := []string{gardencorev1beta1.GroupNodeAgents, gardencorev1beta1.GroupPrefixNodeAgentsPool + pool}
	if pool == "" || !slices.Equal(groups, want) {
		return "", fmt.Errorf("its organizations are %q, must be the agents of nodes and those of one worker pool", content.Subject.Organization)
	}
	if len(content.EmailAddresses)+len(content.URIs)+len(content.DNSNames)+len(content.IPAddresses) > 0 {
		return "", errors.New("it asks for names or addresses, which a client does not need")
	}
	allowed := []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageClientAuth}
	for _, usage := range request.Spec.Usages {
		if !slices.Contains(allowed, usage) {
			return "", fmt.Errorf("it asks for the usage %q, which a client does not need", usage)
		}
	}
	return pool, nil
}

// checkPool returns why a node is not in the pool, or nil. Where machines are no objects nobody but the node says so, which is not enough.
func (d Decider) checkPool(ctx context.Context, node, pool string) (why, err error) {
	machines := &metav1.PartialObjectMetadataList{}
	if err := d.list(ctx, machines, "Machine", client.MatchingLabels{labelNode: node}); err != nil {
		return nil, err
	}
	if len(machines.Items) != 1 {
		return fmt.Errorf("%d machines have the label %s=%s, must be one", len(machines.Items), labelNode, node), nil
	}
	if own := machines.Items[0].Labels[gardencorev1beta1.LabelWorkerPool]; own != pool {
		return fmt.Errorf("its machine belongs to the worker pool %q, not to %q", own, pool), nil
	}
	return nil, nil
}
