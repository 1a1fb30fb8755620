// SPDX-License-Identifier: Apache-2.0

// Package shootauthorizer authorizes the gardenlet of a self-hosted shoot for what it needs for its shoot and no more. Such a shoot, with
// its machines and its gardenlet, is in the hands of somebody who may be only a member of a project. So
//
//   - only a shoot that exists and is self-hosted gives any permission, and only to certificates that are not older than the shoot;
//   - what has data can be read only in the namespace of the shoot, and is not listed or watched;
//   - what it can write is what the admission plugin shootrestriction judges.
//
// It never denies: later authorizers may allow more, such as RBAC what every user may read (GAC-SHOOTR-1).
package shootauthorizer

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/terrarium-garden/terrarium/appliance/authorization/rules"
	"github.com/terrarium-garden/terrarium/appliance/authorization/selfhosted"
	"github.com/terrarium-garden/terrarium/appliance/authorization/shootclient"
)

// Authorizer implements authorizer.Authorizer.
type Authorizer struct {
	shoots *selfhosted.Shoots
	engine *rules.Engine[shootclient.Client]
}

var _ authorizer.Authorizer = (*Authorizer)(nil)

// New returns the authorizer. The graph of the configuration is replaced by that of the shoots.
func New(shoots *selfhosted.Shoots, c rules.Config) *Authorizer {
	c.Graph = shoots.Graph

	return &Authorizer{shoots: shoots, engine: rules.New(c, table())}
}

// Authorize implements authorizer.Authorizer.
func (z *Authorizer) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	client, ok := shootclient.Of(a.GetUser())
	if !ok {
		return authorizer.DecisionNoOpinion, "", nil
	}
	if reason := z.refused(client, a.GetUser()); reason != "" {
		return authorizer.DecisionNoOpinion, reason, nil
	}
	decision, reason, err := z.engine.Authorize(ctx, client, a)
	if decision != authorizer.DecisionAllow {
		return decision, reason, err
	}
	// The shoot may have been deleted, and created again by somebody else, since the first look.
	if reason := z.refused(client, a.GetUser()); reason != "" {
		return authorizer.DecisionNoOpinion, reason, nil
	}

	return decision, "", nil
}

// refused returns why a client has no permissions at all.
func (z *Authorizer) refused(client shootclient.Client, who user.Info) string {
	if client == (shootclient.Client{}) {
		return "this is not the user name of the gardenlet of a shoot"
	}
	created, ok := z.shoots.Since(client.Target())
	switch {
	case !ok:
		return fmt.Sprintf("shoot %q does not exist or is not self-hosted, so it has no gardenlet of its own", client)
	case shootclient.Former(who, created):
		return fmt.Sprintf("the certificate was issued for a former shoot %q; the gardenlet has to join again", client)
	default:
		return ""
	}
}
