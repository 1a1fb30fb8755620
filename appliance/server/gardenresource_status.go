// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/doctor"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/server/sharing"
)

const (
	// advertised is the name of the address of the API in the status of the Garden.
	advertised = "virtual-garden"
	// settling is how long the Garden waits for all parts of a server that starts before it says that one is not ready.
	settling = time.Minute
)

// gardenStatus says in the status of the Garden who, where and how well the server is.
type gardenStatus struct {
	version string
	// url is the URL of the server for clients on other machines.
	url     string
	clock   clock.PassiveClock
	started time.Time
	// name returns the unique name of the garden; empty while it is not known.
	name      func() string
	keys      *identity.Garden
	readiness *readiness
	// examine is what the doctor finds.
	examine  func(ctx context.Context) (*doctor.Report, error)
	holders  *sharing.Holders
	loopback kubernetes.Interface
}

// settled reports whether all parts of the server are ready, or have had enough time.
func (s *gardenStatus) settled() bool {
	if s.clock.Since(s.started) > settling {
		return true
	}
	for _, u := range s.readiness.units {
		if !u.ready.Load() {
			return false
		}
	}

	return true
}

// report writes who and where the server is, and what it encrypts.
func (s *gardenStatus) report(status *gardenoperatorv1alpha1.GardenStatus) error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("get the host name: %w", err)
	}
	status.Gardener = &gardencorev1beta1.Gardener{ID: s.name(), Name: host, Version: s.version}
	status.AdvertisedAddresses = []gardenoperatorv1alpha1.AdvertisedAddress{{Name: advertised, URL: s.url}}
	resources, provider, err := s.keys.Encryption.Resources()
	if err != nil {
		return err
	}
	if status.Credentials == nil {
		status.Credentials = &gardenoperatorv1alpha1.Credentials{}
	}
	status.Credentials.EncryptionAtRest = &gardencorev1beta1.EncryptionAtRest{
		Resources: resources, Provider: gardencorev1beta1.EncryptionProviderStatus{Type: gardencorev1beta1.EncryptionProviderType(provider)},
	}

	return nil
}

// health asks the API and the doctor. What the API answers is known even if the doctor cannot read the objects.
func (s *gardenStatus) health(ctx context.Context) ([]gardencorev1beta1.Condition, error) {
	api := s.api(ctx)
	report, err := s.examine(ctx)
	if err != nil {
		return []gardencorev1beta1.Condition{api}, err
	}
	generation, all := s.holders.All()

	return append([]gardencorev1beta1.Condition{api}, tellGeneration(judge(report.Findings), generation, all)...), nil
}

// api asks the API whether it is well (OPER-CARE-1).
func (s *gardenStatus) api(ctx context.Context) gardencorev1beta1.Condition {
	api := gardencorev1beta1.Condition{
		Type: gardenoperatorv1alpha1.ConditionTypeVirtualGardenAPIServerAvailable, Status: gardencorev1beta1.ConditionTrue,
		Reason: reasonAnswers, Message: "The API server answers that it is well.",
	}
	if err := s.loopback.Discovery().RESTClient().Get().AbsPath("/healthz").Do(ctx).Error(); err != nil {
		api.Status, api.Reason, api.Message = gardencorev1beta1.ConditionFalse, reasonSilent, "The API server does not answer that it is well: "+err.Error()
	}

	return api
}
