// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/kubeconfig"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

// Clouds finds the clouds of shoots, and keeps a client for each that is apart. All methods are safe for concurrent use.
type Clouds struct {
	// Seed is the client for machines in the seed.
	Seed client.Client
	// Reader reads from the seed without a cache.
	Reader client.Reader
	// Connect makes a client from a kubeconfig. Unset, it is a guarded one.
	Connect func(kubeconfig []byte, refused []netip.Prefix) (client.Client, error)

	once   sync.Once
	shoots *kit.Shoots
}

// Start drops idle clients until ctx ends. It makes Clouds a runnable of a manager.
func (c *Clouds) Start(ctx context.Context) error { return c.clients().Start(ctx) }

// Of returns where the machines of the shoot with that control-plane namespace run. The error is ErrForeign if the other cluster has a
// namespace of that name that does not belong to the shoot.
func (c *Clouds) Of(ctx context.Context, namespace string) (Cloud, error) {
	in := Cloud{Client: c.Seed, Namespace: namespace}
	access, err := c.clients().Get(ctx, namespace)
	apart := !errors.Is(err, kit.ErrNoShootAccess)
	if err != nil && apart {
		return Cloud{}, err
	}
	if apart {
		if in, err = c.apart(ctx, namespace, access.Client); err != nil {
			return Cloud{}, err
		}
	}
	if err := c.sameAsBefore(ctx, in); err != nil {
		return Cloud{}, err
	}
	if apart {
		if _, err := in.namespace(ctx); err != nil {
			return Cloud{}, in.Trouble(err)
		}
	}
	return in, nil
}

func (c *Clouds) apart(ctx context.Context, namespace string, access client.Client) (Cloud, error) {
	cluster, err := engine.ReadCluster(ctx, c.Reader, namespace)
	if err != nil {
		return Cloud{}, err
	}
	in := Cloud{Client: access, Namespace: namespace}
	if cluster != nil {
		in.shoot, in.refused = string(cluster.Shoot.UID), append(NetworksOfSeed(cluster), networksOfShoot(cluster)...)
	}
	if in.Place, err = PlaceOf(ctx, access); err != nil {
		return Cloud{}, &trouble{error: fmt.Errorf("reach the cluster of the machines, whose kubeconfig is in the provider secret: %w", err)}
	}
	return in, nil
}

// PlaceOf identifies a cluster by its namespace kube-system, which lives as long as the cluster.
func PlaceOf(ctx context.Context, reader client.Reader) (string, error) {
	system := &corev1.Namespace{}
	if err := reader.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, system); err != nil {
		return "", fmt.Errorf("get namespace %q: %w", metav1.NamespaceSystem, err)
	}
	if system.UID == "" {
		return "", fmt.Errorf("namespace %q has no UID", metav1.NamespaceSystem)
	}
	return string(system.UID), nil
}

// source is what a client is made from.
type source struct {
	Kubeconfig []byte         `json:"kubeconfig"`
	Refused    []netip.Prefix `json:"refused"`
}

// clients keeps them by what they are made from, so that other credentials make another client.
func (c *Clouds) clients() *kit.Shoots {
	c.once.Do(func() {
		c.shoots = &kit.Shoots{
			Seed: c.Reader, Secret: gardencorev1beta1.SecretCloudProvider, Kubeconfig: c.read,
			Connect: func(data []byte) (*kit.Shoot, error) {
				from := source{}
				if err := json.Unmarshal(data, &from); err != nil {
					return nil, fmt.Errorf("decode: %w", err)
				}
				made, err := c.connect(from)
				return &kit.Shoot{Client: made}, err
			},
		}
	})
	return c.shoots
}

func (c *Clouds) connect(from source) (client.Client, error) {
	if c.Connect != nil {
		return c.Connect(from.Kubeconfig, from.Refused)
	}
	config, err := Config(from.Kubeconfig, from.Refused)
	if err != nil {
		return nil, err
	}
	made, err := connect(config, c.Seed.Scheme())
	return made, engine.ConfigurationProblem(err)
}

// read reads the provider secret. The error is kit.ErrNoShootAccess if it names no other cluster.
func (c *Clouds) read(ctx context.Context, namespace string) ([]byte, error) {
	data, err := Kubeconfig(ctx, c.Reader, namespace)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, kit.ErrNoShootAccess
	}
	cluster, err := engine.ReadCluster(ctx, c.Reader, namespace)
	if err != nil {
		return nil, err
	}
	from := source{Kubeconfig: data, Refused: NetworksOfSeed(cluster)}
	if _, err := Config(data, from.Refused); err != nil {
		return nil, engine.ConfigurationProblem(fmt.Errorf("the key %q of the provider secret: %w", kubeconfig.Key, err))
	}
	encoded, err := json.Marshal(from)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return encoded, nil
}

// Kubeconfig is that of the cluster of the machines; empty if that is the seed.
func Kubeconfig(ctx context.Context, seed client.Reader, namespace string) ([]byte, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: namespace, Name: gardencorev1beta1.SecretCloudProvider}
	err := seed.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read provider secret %q: %w", key, err)
	}
	return secret.Data[kubeconfig.Key], nil
}

// NetworksOfSeed are those of the pods and Services of the seed, which users do not reach, and those that it blocks.
func NetworksOfSeed(cluster *engine.Cluster) []netip.Prefix {
	if cluster == nil || cluster.Seed == nil {
		return nil
	}
	n := cluster.Seed.Spec.Networks
	return prefixes(append([]string{n.Pods, n.Services}, n.BlockCIDRs...)...)
}

func networksOfShoot(cluster *engine.Cluster) []netip.Prefix {
	n := cluster.Shoot.Spec.Networking
	if n == nil {
		return nil
	}
	var texts []string
	for _, text := range []*string{n.Pods, n.Services} {
		if text != nil {
			texts = append(texts, *text)
		}
	}
	return prefixes(texts...)
}

// prefixes leaves out what is not a network: nothing is in it.
func prefixes(texts ...string) []netip.Prefix {
	var found []netip.Prefix
	for _, text := range texts {
		if network, err := netip.ParsePrefix(text); err == nil {
			found = append(found, network.Masked())
		}
	}
	return found
}

// sameAsBefore refuses another place than the one that the Infrastructure has recorded: its machines would be taken for lost, and stay.
func (c *Clouds) sameAsBefore(ctx context.Context, in Cloud) error {
	list := &gardenextensionsv1alpha1.InfrastructureList{}
	if err := c.Reader.List(ctx, list, client.InNamespace(in.Namespace)); err != nil {
		return fmt.Errorf("list infrastructures: %w", err)
	}
	for i := range list.Items {
		if list.Items[i].Spec.Type != engine.Type {
			continue
		}
		before, known, err := Recorded(&list.Items[i])
		if err != nil {
			return err
		}
		if known && before != in.Place {
			return engine.ConfigurationProblem(fmt.Errorf("the machines of the shoot are in %s and do not move to %s; restore the former provider secret, or delete the shoot with it and create it again",
				describe(before), describe(in.Place)))
		}
	}
	return nil
}

func describe(place string) string {
	if place == "" {
		return "the seed"
	}
	return fmt.Sprintf("the cluster whose namespace %s has the UID %q", metav1.NamespaceSystem, place)
}
