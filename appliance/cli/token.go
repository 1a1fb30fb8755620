// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"

	"github.com/terrarium-garden/terrarium/apis/jointoken"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

func newTokenCommand(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Create, list and delete the tokens for joining seeds",
		Long: `A gardenlet uses a join token to request one client certificate from the garden. The token is valid for a short time, and
contains a hash of the garden's CA, with which the gardenlet verifies the garden.

A token for a seed is valid only for the certificate of that seed. A token without a seed is valid for any seed that does not
exist yet. The gardenlet deletes its token after the join. A token whose description names a self-hosted shoot, as with --shoot,
is valid only for the certificate of the gardenlet of this shoot.`,
	}
	cmd.AddCommand(newTokenCreateCommand(env), newTokenListCommand(env), newTokenDeleteCommand(env))
	return cmd
}

// tokenInfo is the public part of a token.
type tokenInfo struct {
	ID          string     `json:"id"`
	Seed        string     `json:"seed,omitempty"`
	Shoot       string     `json:"shoot,omitempty"`
	Renew       bool       `json:"renew,omitempty"`
	Description string     `json:"description,omitempty"`
	Expires     *time.Time `json:"expires,omitempty"`
	Usages      []string   `json:"usages"`
	Used        *tokenUse  `json:"used,omitempty"`
}

// tokenUse says which seed, or self-hosted shoot, has used a token, and when.
type tokenUse struct {
	Seed    string    `json:"seed"`
	At      time.Time `json:"at"`
	Request string    `json:"request"`
}

// tokenPlan describes a token to be created.
type tokenPlan struct {
	description, seed string
	renew             bool
	expires           time.Time
}

// tokenSecret returns the Secret with which the API server authenticates a token.
func tokenSecret(t identity.JoinToken, plan tokenPlan) *corev1.Secret {
	data := map[string]string{
		bootstrapapi.BootstrapTokenIDKey:               t.ID,
		bootstrapapi.BootstrapTokenSecretKey:           t.Secret,
		bootstrapapi.BootstrapTokenExpirationKey:       plan.expires.UTC().Format(time.RFC3339),
		bootstrapapi.BootstrapTokenUsageAuthentication: "true",
	}
	if plan.description != "" {
		data[bootstrapapi.BootstrapTokenDescriptionKey] = plan.description
	}
	if plan.seed != "" {
		data[jointoken.KeySeed] = plan.seed
	}
	if plan.renew {
		data[jointoken.KeyRenew] = "true"
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: bootstrapapi.BootstrapTokenSecretPrefix + t.ID},
		Type:       bootstrapapi.SecretTypeBootstrapToken,
		StringData: data,
	}
}

// describeToken returns the public part of such a Secret. A token without a valid expiration does not expire.
func describeToken(secret *corev1.Secret) tokenInfo {
	info := tokenInfo{
		ID:          strings.TrimPrefix(secret.Name, bootstrapapi.BootstrapTokenSecretPrefix),
		Description: string(secret.Data[bootstrapapi.BootstrapTokenDescriptionKey]),
		Usages:      []string{},
	}
	if purpose, err := jointoken.PurposeOf(secret); err == nil {
		info.Seed, info.Renew = purpose.Seed, purpose.Renew
		if purpose.Shoot.Name != "" {
			info.Shoot = purpose.Shoot.String()
		}
	}
	if use := jointoken.UseOf(secret); use != nil {
		info.Used = &tokenUse{Seed: use.Seed, At: use.At, Request: use.Request}
	}
	if expires, err := time.Parse(time.RFC3339, string(secret.Data[bootstrapapi.BootstrapTokenExpirationKey])); err == nil {
		info.Expires = new(expires.UTC())
	}
	for key, value := range secret.Data {
		if use, found := strings.CutPrefix(key, bootstrapapi.BootstrapTokenUsagePrefix); found && string(value) == "true" {
			info.Usages = append(info.Usages, use)
		}
	}
	slices.Sort(info.Usages)
	return info
}

// tokens lists the tokens of the garden, ordered by id.
func (g *garden) tokens(ctx context.Context) ([]tokenInfo, error) {
	list, err := g.client.CoreV1().Secrets(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("type", string(bootstrapapi.SecretTypeBootstrapToken)).String(),
	})
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	infos := make([]tokenInfo, 0, len(list.Items))
	for i := range list.Items {
		infos = append(infos, describeToken(&list.Items[i]))
	}
	slices.SortFunc(infos, func(a, b tokenInfo) int { return strings.Compare(a.ID, b.ID) })
	return infos, nil
}
