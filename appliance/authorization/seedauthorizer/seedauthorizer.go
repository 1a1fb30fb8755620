// SPDX-License-Identifier: Apache-2.0

// Package seedauthorizer authorizes a gardenlet, and the extensions of its seed, for what they need for their seed and no
// more. It never denies: later authorizers may allow more, such as RBAC what every user may read.
package seedauthorizer

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/terrarium-garden/terrarium/appliance/authorization/rules"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
)

// Config is what the authorizer needs, with the graph of what belongs to which seed.
type Config = rules.Config

// Authorizer implements authorizer.Authorizer.
type Authorizer struct {
	engine *rules.Engine[seedclient.Client]
}

var _ authorizer.Authorizer = (*Authorizer)(nil)

// New returns the authorizer.
func New(c Config) *Authorizer { return &Authorizer{rules.New(c, table())} }

// Authorize implements authorizer.Authorizer.
func (z *Authorizer) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	client, ok := seedclient.Of(a.GetUser())
	if !ok {
		return authorizer.DecisionNoOpinion, "", nil
	}

	return z.engine.Authorize(ctx, client, a)
}
