// SPDX-License-Identifier: Apache-2.0

package gardenaccess

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ErrNoCredentials says that there are no credentials in any of the configured places.
var ErrNoCredentials = errors.New("no credentials for the garden")

// Access is a connection to the garden whose credentials are accepted.
type Access struct {
	settings     Settings
	surroundings Surroundings
	transport    *transport // nil if the credentials are not renewed
	config       *rest.Config
	current      atomic.Pointer[Material]
}

// Open finds or obtains the credentials (GLET-BOOT-4) and returns when the garden has accepted them. It waits while the garden
// does not answer, and returns an error if the garden does not accept the credentials.
func Open(ctx context.Context, settings Settings, surroundings Surroundings) (*Access, error) {
	a := &Access{settings: settings, surroundings: surroundings}
	if settings.KubeconfigSecret == nil && settings.BootstrapKubeconfig == nil {
		return a, a.openFile()
	}
	if settings.KubeconfigSecret == nil {
		return nil, errors.New("gardenClientConnection.kubeconfigSecret: required together with bootstrapKubeconfig: the gardenlet stores its credentials there")
	}
	material, err := a.find(ctx)
	if err != nil {
		return nil, err
	}
	if material == nil {
		return a, a.openFile()
	}
	if err := a.take(material); err != nil {
		return nil, err
	}
	if err := a.confirm(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

// Config returns a client configuration that stays valid when the credentials are renewed. It must not be changed.
func (a *Access) Config() *rest.Config { return a.config }

// Anonymous returns a client configuration without credentials: the address of the garden and what verifies it, as they are now.
func (a *Access) Anonymous() *rest.Config {
	m := a.current.Load()

	return plainConfig(a.settings, Material{Server: m.Server, CA: m.CA, Insecure: m.Insecure})
}

// Expiry returns the expiry time of the current client certificate; nil if there is no certificate.
func (a *Access) Expiry() *metav1.Time {
	material := a.current.Load()
	if material == nil {
		return nil
	}
	leaf, err := material.Leaf()
	if err != nil || leaf == nil {
		return nil
	}
	return &metav1.Time{Time: leaf.NotAfter}
}

// Close closes idle connections.
func (a *Access) Close() {
	if a.transport != nil {
		a.transport.CloseIdleConnections()
	}
}

// openFile uses the kubeconfig file as it is, without bootstrap and without rotation.
func (a *Access) openFile() error {
	if a.settings.Kubeconfig == "" {
		return fmt.Errorf("%w: set gardenClientConnection.kubeconfig, or gardenClientConnection.bootstrapKubeconfig together with kubeconfigSecret", ErrNoCredentials)
	}
	config, err := clientcmd.BuildConfigFromFlags("", a.settings.Kubeconfig)
	if err != nil {
		return fmt.Errorf("load garden kubeconfig %q: %w", a.settings.Kubeconfig, err)
	}
	a.config = tuned(a.settings, config)
	if err := rest.LoadTLSFiles(config); err != nil {
		return fmt.Errorf("load garden kubeconfig %q: %w", a.settings.Kubeconfig, err)
	}
	a.current.Store(&Material{Server: config.Host, CA: config.CAData, Certificate: config.CertData, Key: config.KeyData, Token: config.BearerToken})
	return nil
}

// find returns the stored credentials, or else new ones, or nil if only the file is left.
func (a *Access) find(ctx context.Context) (*Material, error) {
	stored, storedErr := a.stored(ctx)
	if storedErr != nil && !errors.Is(storedErr, errUnusable) {
		return nil, storedErr
	}
	if stored != nil && storedErr == nil {
		return stored, nil
	}
	bootstrap, err := a.bootstrapMaterial(ctx)
	switch {
	case err != nil && storedErr != nil:
		return nil, fmt.Errorf("%w, and new ones cannot be requested: %w", storedErr, err)
	case err != nil:
		return nil, err
	case bootstrap != nil:
		return a.bootstrap(ctx, *bootstrap)
	case storedErr != nil:
		return nil, fmt.Errorf("%w: join the seed again with a new token", storedErr)
	default:
		return nil, nil //nolint:nilnil // the caller falls back to the file
	}
}

var errUnusable = errors.New("stored garden credentials cannot be used")

// stored reads the kubeconfig Secret. It returns nil without an error if the Secret has no kubeconfig.
func (a *Access) stored(ctx context.Context) (*Material, error) {
	secret, err := a.readSecret(ctx, a.settings.KubeconfigSecret)
	if err != nil || secret == nil || len(secret.Data[gardencorev1beta1.DataKeyKubeconfig]) == 0 {
		return nil, err
	}
	material, err := ParseKubeconfig(secret.Data[gardencorev1beta1.DataKeyKubeconfig])
	if err != nil {
		return nil, fmt.Errorf("%w: Secret %s: %w", errUnusable, name(a.settings.KubeconfigSecret), err)
	}
	if err := material.Usable(a.settings.Seed, a.surroundings.Clock.Now()); err != nil {
		return nil, fmt.Errorf("%w: Secret %s: %w", errUnusable, name(a.settings.KubeconfigSecret), err)
	}
	return &material, nil
}

// bootstrapMaterial reads the bootstrap Secret. It returns nil if none is configured. A configured one must exist.
func (a *Access) bootstrapMaterial(ctx context.Context) (*Material, error) {
	if a.settings.BootstrapKubeconfig == nil {
		return nil, nil //nolint:nilnil // see above
	}
	secret, err := a.readSecret(ctx, a.settings.BootstrapKubeconfig)
	if err != nil {
		return nil, err
	}
	if secret == nil || len(secret.Data[gardencorev1beta1.DataKeyKubeconfig]) == 0 {
		return nil, fmt.Errorf("%w: bootstrap Secret %s has no key %q: join the seed with a token", ErrNoCredentials, name(a.settings.BootstrapKubeconfig), gardencorev1beta1.DataKeyKubeconfig)
	}
	material, err := ParseKubeconfig(secret.Data[gardencorev1beta1.DataKeyKubeconfig])
	if err != nil {
		return nil, fmt.Errorf("bootstrap Secret %s: %w", name(a.settings.BootstrapKubeconfig), err)
	}
	return &material, nil
}

// bootstrap requests a certificate with the bootstrap credentials and stores it.
func (a *Access) bootstrap(ctx context.Context, bootstrap Material) (*Material, error) {
	clients, err := kubernetes.NewForConfig(plainConfig(a.settings, bootstrap))
	if err != nil {
		return nil, fmt.Errorf("build bootstrap client: %w", err)
	}
	a.surroundings.Log.Info("Requesting a client certificate", "garden", bootstrap.Server, "seed", a.settings.Seed)
	requester := a.requester(clients)
	requester.key = a.bootstrapKey
	requester.created = func(ctx context.Context, request string) {
		a.surroundings.Log.Info("Certificate signing request created", "request", request)
		a.annotateBootstrap(ctx, map[string]*string{AnnotationRequest: &request, AnnotationProblem: nil})
	}
	fresh := Material{Server: bootstrap.Server, CA: bootstrap.CA, Insecure: bootstrap.Insecure}
	if a.settings.Address != "" {
		fresh.Server = a.settings.Address
	}
	err = a.insist(ctx, bootstrap.Server, func() error {
		fresh.Certificate, fresh.Key, err = requester.obtain(ctx, subjectOf(a.settings.Seed))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("request client certificate of seed %q: %w", a.settings.Seed, err)
	}
	if err := a.store(ctx, fresh, true); err != nil {
		return nil, err
	}
	a.surroundings.Log.Info("Client certificate stored", "secret", name(a.settings.KubeconfigSecret))
	return &fresh, nil
}

func (a *Access) requester(clients kubernetes.Interface) requester {
	return requester{
		requests: clients.CertificatesV1().CertificateSigningRequests(),
		clock:    a.surroundings.Clock,
		validity: a.settings.Validity,
		alive:    a.surroundings.Alive,
	}
}

// Insist retries do while the garden does not answer, and for a short time if the garden refuses the request. It returns other
// errors with an explanation of what is wrong between gardenlet and garden.
func (a *Access) Insist(ctx context.Context, do func() error) error {
	return a.insist(ctx, a.current.Load().Server, do)
}

// insist is Insist for a given server. It publishes the problem as an annotation for observers of the join.
func (a *Access) insist(ctx context.Context, server string, do func() error) error {
	told := ""
	var refusedSince time.Time
	for {
		err := Explain(server, do())
		if err == nil || ctx.Err() != nil {
			return err
		}
		again := temporary(err)
		switch {
		case !refused(err):
			refusedSince = time.Time{}
		case refusedSince.IsZero():
			refusedSince, again = a.surroundings.Clock.Now(), true
		default:
			again = a.surroundings.Clock.Since(refusedSince) < refusalPatience
		}
		if problem := err.Error(); problem != told {
			told = problem
			a.annotateBootstrap(ctx, map[string]*string{AnnotationProblem: &problem})
			if again {
				a.surroundings.Log.Info("Garden does not accept the credentials yet, retrying", "garden", server, "reason", problem)
			}
		}
		if !again {
			return err
		}
		a.surroundings.Alive()
		if err := pause(ctx, a.surroundings.Clock, retryPause); err != nil {
			return err
		}
	}
}

// take starts to use the material.
func (a *Access) take(material *Material) error {
	if len(material.Certificate) == 0 {
		a.config = plainConfig(a.settings, *material)
		a.current.Store(material)
		return nil
	}
	if a.transport == nil {
		a.transport = &transport{}
	}
	if err := a.transport.use(*material); err != nil {
		return err
	}
	if a.config == nil {
		a.config = a.transport.config(a.settings, material.Server)
	}
	a.current.Store(material)
	return nil
}

// store writes the material to the kubeconfig Secret. If it answers a request for renewal, that is removed from the Secret; one that
// came meanwhile stays for the next look (GLET-BOOT-5).
func (a *Access) store(ctx context.Context, material Material, answers bool) error {
	kubeconfig, err := material.Kubeconfig()
	if err != nil {
		return err
	}
	reference := a.settings.KubeconfigSecret
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: reference.Namespace, Name: reference.Name}}
	for {
		err := a.surroundings.Seed.Get(ctx, client.ObjectKeyFromObject(secret), secret)
		missing := apierrors.IsNotFound(err)
		if err != nil && !missing {
			return fmt.Errorf("get Secret %s: %w", name(reference), err)
		}
		if answers {
			delete(secret.Annotations, gardencorev1beta1.AnnotationOperation)
		}
		secret.Data = map[string][]byte{gardencorev1beta1.DataKeyKubeconfig: kubeconfig}
		if missing {
			err = a.surroundings.Seed.Create(ctx, secret)
		} else {
			err = a.surroundings.Seed.Update(ctx, secret)
		}
		switch {
		case err == nil:
			return nil
		case !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err):
			return fmt.Errorf("store client certificate in Secret %s: %w", name(reference), err)
		}
		if err := pause(ctx, a.surroundings.Clock, time.Second); err != nil {
			return err
		}
	}
}

// readSecret returns nil without an error if the Secret does not exist.
func (a *Access) readSecret(ctx context.Context, reference *corev1.SecretReference) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := a.surroundings.Seed.Get(ctx, client.ObjectKey{Namespace: reference.Namespace, Name: reference.Name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // see above
	}
	if err != nil {
		return nil, fmt.Errorf("get Secret %s: %w", name(reference), err)
	}
	return secret, nil
}

func name(reference *corev1.SecretReference) string {
	return reference.Namespace + "/" + reference.Name
}
