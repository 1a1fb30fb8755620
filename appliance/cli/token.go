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

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

func newTokenCommand(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make, list and delete the tokens by which seeds join",
		Long: `A join token lets a gardenlet ask the garden for a client certificate, once, within a short time. It carries a hash of
the garden's CA, so that the gardenlet knows the garden when it sees it.`,
	}
	cmd.AddCommand(newTokenCreateCommand(env), newTokenListCommand(env), newTokenDeleteCommand(env))
	return cmd
}

// tokenInfo is what may be told about a token.
type tokenInfo struct {
	ID          string     `json:"id"`
	Description string     `json:"description,omitempty"`
	Expires     *time.Time `json:"expires,omitempty"`
	Usages      []string   `json:"usages"`
}

// tokenSecret is the object that the API server checks tokens against.
func tokenSecret(t identity.JoinToken, description string, expires time.Time) *corev1.Secret {
	data := map[string]string{
		bootstrapapi.BootstrapTokenIDKey:               t.ID,
		bootstrapapi.BootstrapTokenSecretKey:           t.Secret,
		bootstrapapi.BootstrapTokenExpirationKey:       expires.UTC().Format(time.RFC3339),
		bootstrapapi.BootstrapTokenUsageAuthentication: "true",
	}
	if description != "" {
		data[bootstrapapi.BootstrapTokenDescriptionKey] = description
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: bootstrapapi.BootstrapTokenSecretPrefix + t.ID},
		Type:       bootstrapapi.SecretTypeBootstrapToken,
		StringData: data,
	}
}

// describeToken reads what may be told from such an object. One without a valid expiration lives for ever.
func describeToken(secret *corev1.Secret) tokenInfo {
	info := tokenInfo{
		ID:          strings.TrimPrefix(secret.Name, bootstrapapi.BootstrapTokenSecretPrefix),
		Description: string(secret.Data[bootstrapapi.BootstrapTokenDescriptionKey]),
		Usages:      []string{},
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

// tokens lists the tokens of the garden by their ids.
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
