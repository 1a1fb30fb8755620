// SPDX-License-Identifier: Apache-2.0

package shootconfig

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/audit/policy"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// NewAuditPolicy returns the plugin for audit policies.
func NewAuditPolicy(w *world.World) admission.Interface {
	return document{
		what: "audit policy", key: "policy", reason: "AuditPolicy",
		path: inServer("auditConfig", "auditPolicy", "configMapRef"),
		name: func(s *gardencorev1beta1.KubeAPIServerConfig) string {
			if s.AuditConfig == nil || s.AuditConfig.AuditPolicy == nil || s.AuditConfig.AuditPolicy.ConfigMapRef == nil {
				return ""
			}
			return s.AuditConfig.AuditPolicy.ConfigMapRef.Name
		},
		read: func(_ context.Context, content string) (fits, error) {
			_, err := policy.LoadPolicyFromBytes([]byte(content))
			return func(*gardencorev1beta1.KubeAPIServerConfig) error { return nil }, err
		},
		other: func(_, _ *gardencorev1beta1.KubeAPIServerConfig) bool { return false },
	}.rule(w)
}
