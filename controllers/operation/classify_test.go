// SPDX-License-Identifier: Apache-2.0

package operation_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

func TestClassify_GLET_ERR_4(t *testing.T) {
	t.Parallel()
	const (
		unauthenticated, unauthorized = "ERR_INFRA_UNAUTHENTICATED", "ERR_INFRA_UNAUTHORIZED"
		quota, rate                   = "ERR_INFRA_QUOTA_EXCEEDED", "ERR_INFRA_RATE_LIMITS_EXCEEDED"
		dependencies, depleted        = "ERR_INFRA_DEPENDENCIES", "ERR_INFRA_RESOURCES_DEPLETED"
		configuration                 = "ERR_CONFIGURATION_PROBLEM"
	)
	for message, want := range map[string][]gardencorev1beta1.ErrorCode{
		"invalid token tenant 42":                                  {unauthenticated},
		"Authentication failed":                                    {unauthenticated},
		"AuthFailure: AWS was not able to validate":                {unauthenticated},
		"invalid_client: bad secret":                               {unauthenticated},
		"InvalidClientTokenId: the token is invalid":               {unauthenticated},
		"InvalidAccessKeyId.NotFound":                              {unauthenticated},
		"oauth2: \"invalid_grant\"":                                {unauthorized},
		"AccessDenied: not allowed to create a VPC":                {unauthorized},
		"googleapi: Error 403: forbidden":                          {unauthorized},
		"AuthorizationFailed: the client has no permission":        {unauthorized},
		"Unauthorized":                                             {unauthorized},
		"VpcLimitExceeded: the maximum number of VPCs is reached":  {quota},
		"Quota 'CPUS' exceeded. Limit: 24":                         {quota},
		"pods \"m\" is forbidden: exceeded quota: small":           {quota},
		"RequestLimitExceeded: slow down":                          {rate},
		"Throttling: rate exceeded":                                {rate},
		"HTTP 429 Too Many Requests":                               {rate},
		"PendingVerification":                                      {dependencies},
		"DependencyViolation: the subnet has dependencies":         {dependencies},
		"OptInRequired: you are not subscribed":                    {dependencies},
		"DeleteConflict: cannot delete entity":                     {dependencies},
		"409 Conflict":                                             {dependencies},
		"InUseSubnetCannotBeDeleted":                               {dependencies},
		"InsufficientInstanceCapacity in eu-1a":                    {depleted},
		"SkuNotAvailable: Standard_D2":                             {depleted},
		"the machine type is out of stock":                         {depleted},
		"InvalidParameterValue: invalid CIDR":                      {configuration},
		"spec.cidr: Invalid value: \"x\"":                          {configuration},
		"NetcfgInvalidSubnet: subnet is not in the network":        {configuration},
		"KubeletHasDiskPressure: kubelet has disk pressure":        {configuration},
		"AccessDenied, and VpcLimitExceeded":                       {quota, unauthorized},
		"RequestLimitExceeded, and then VpcLimitExceeded":          {quota, rate},
		"connection refused":                                       nil,
		"the configuration of conflicting machines is not wrong":   nil,
		"the limit of connections is not exceeded, it is 12 of 40": nil,
	} {
		got := operation.Codes(operation.Classify(fmt.Errorf("create network: %w", errors.New(message))))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("codes of %q (-want +got):\n%s", message, diff)
		}
	}
}

func TestClassifyKeeps_GLET_ERR_3(t *testing.T) {
	t.Parallel()
	known := operation.WithCodes(errors.New("quota exceeded"), gardencorev1beta1.ErrorCodeConfigurationProblem)
	if diff := cmp.Diff([]gardencorev1beta1.ErrorCode{"ERR_CONFIGURATION_PROBLEM"}, operation.Codes(operation.Classify(known))); diff != "" {
		t.Errorf("who knows better is overruled (-want +got):\n%s", diff)
	}
	if operation.Classify(nil) != nil {
		t.Error("no error has become one")
	}
}

// TestClassifyAnswersOfClusters_GLET_ERR_5: a quota of the garden or of the seed has been set by somebody, all else passes.
func TestClassifyAnswersOfClusters_GLET_ERR_5(t *testing.T) {
	t.Parallel()
	secrets := schema.GroupResource{Resource: "secrets"}
	for name, tc := range map[string]struct {
		err  error
		want []gardencorev1beta1.ErrorCode
	}{
		"quota":        {apierrors.NewForbidden(secrets, "a", errors.New("exceeded quota: count, requested: 1, used: 5, limited: 5")), []gardencorev1beta1.ErrorCode{"ERR_INFRA_QUOTA_EXCEEDED"}},
		"forbidden":    {apierrors.NewForbidden(secrets, "a", errors.New("access denied")), nil},
		"token":        {apierrors.NewUnauthorized("Unauthorized"), nil},
		"conflict":     {apierrors.NewConflict(secrets, "a", errors.New("conflict")), nil},
		"many":         {apierrors.NewTooManyRequests("too many requests", 1), nil},
		"out of order": {apierrors.NewInternalError(errors.New("throttling")), nil},
	} {
		if diff := cmp.Diff(tc.want, operation.Codes(operation.Classify(fmt.Errorf("write: %w", tc.err)))); diff != "" {
			t.Errorf("%s: codes (-want +got):\n%s", name, diff)
		}
	}
}
