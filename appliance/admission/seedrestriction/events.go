// SPDX-License-Identifier: Apache-2.0

package seedrestriction

import (
	"context"

	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/appliance/admission/reports"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
)

var _ admission.MutationInterface = &rule{}

// Admit implements admission.MutationInterface. It notes who reports an event.
func (*rule) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if _, ok := seedclient.Of(a.GetUserInfo()); !ok {
		return nil
	}

	return reports.Sign(a)
}

// event allows events about objects of the seed.
func event(ctx context.Context, r *request) error {
	report := reports.Report{Attributes: r.Attributes, View: r.View, Kinds: r.kinds, Client: r.client.Who()}

	return report.Judge(ctx)
}
