// SPDX-License-Identifier: Apache-2.0

package csr

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
)

// The reasons why a seed does not get a certificate.
var (
	// ErrUsed says that the one certificate that a token is valid for has been issued.
	ErrUsed = errors.New("has already been used")
	// ErrOtherSeed says that a token is for another seed.
	ErrOtherSeed = errors.New("is for another seed")
	// ErrForShoot says that a token is for a self-hosted shoot.
	ErrForShoot = errors.New("is not for a seed")
	// ErrHasCertificate says that a seed has a valid certificate, which its gardenlet renews by itself.
	ErrHasCertificate = errors.New("has already joined and has a valid certificate")
	// ErrExists says that a seed exists, but the token is for new seeds.
	ErrExists = errors.New("already exists")
	// ErrRevoked says that a seed is shut out.
	ErrRevoked = errors.New("is shut out of the garden")
	// ErrGone says that a token does not exist any more, or the object that it was created for.
	ErrGone = errors.New("does not exist")
)

// Ask is a request for the certificate of a seed or of a self-hosted shoot.
type Ask struct {
	// Seed is the name in the certificate. For a self-hosted shoot it is <namespace>/<name>, which no seed is called.
	Seed string
	// Request and UID are the CertificateSigningRequest.
	Request string
	UID     types.UID
	// Key is the hash of its public key.
	Key string
}

// Credentials are the token or service account with which the requester has authenticated. Requesters that are allowed to
// create seeds by themselves have none.
type Credentials struct {
	// Name names them in messages.
	Name string
	// Account says that they are a service account. For a ManagedSeed, a gardenlet makes it.
	Account bool
	// Purpose is what they were created for.
	Purpose jointoken.Purpose
	// Use is how they were used before, or nil.
	Use *jointoken.Use
	// Created is when they were created, for those of a self-hosted shoot.
	Created time.Time
}

// Facts is what the garden knows about the seed.
type Facts struct {
	// Seed is nil if it does not exist.
	Seed *gardencorev1beta1.Seed
	// MadeFrom are the ManagedSeed and the Gardenlet of that name, by their kinds, if they exist.
	MadeFrom map[string]metav1.Object
	// RevokedHost is the seed that the shoot of the ManagedSeed runs on, if that seed is shut out.
	RevokedHost string
	// Now is the time.
	Now time.Time
}

// Judge returns an error if the certificate must not be issued. A token is valid for one certificate of the seed that it was
// created for. A token without a seed is valid for a seed that does not exist. Credentials that a gardenlet makes for a managed seed are
// not valid while the seed of that gardenlet is shut out. A seed that exists gets a certificate only if its own has expired, or if an
// operator requested a new one.
func Judge(ask Ask, shown *Credentials, facts Facts) error {
	if shown == nil {
		return due(ask, jointoken.Purpose{Seed: ask.Seed}, facts)
	}
	purpose := shown.Purpose
	if purpose.Shoot != (types.NamespacedName{}) {
		return fmt.Errorf("%s %w: its description names the self-hosted shoot %q", shown.Name, ErrForShoot, purpose.Shoot)
	}
	if purpose.Seed != "" && purpose.Seed != ask.Seed {
		return fmt.Errorf("%s %w: it is for %q, and the request for %q", shown.Name, ErrOtherSeed, purpose.Seed, ask.Seed)
	}
	// The gardenlet of the host makes these credentials and knows them. Those that an operator has created stay valid.
	if facts.RevokedHost != "" && (shown.Account || purpose.Kind == jointoken.KindManagedSeed) {
		return fmt.Errorf("%s cannot be used: the shoot of managed seed %q runs on seed %q, which %w; an operator can let it join with "+
			"\"terrarium token create --seed %s\"", shown.Name, ask.Seed, facts.RevokedHost, ErrRevoked, ask.Seed)
	}
	if use := shown.Use; use != nil {
		if use.UID == ask.UID {
			return nil
		}
		if use.Key != ask.Key || use.Seed != ask.Seed {
			return fmt.Errorf("%s %w: seed %q got its certificate with request %q; "+
				"if it was lost, create another token with \"terrarium token create --seed %s\"", shown.Name, ErrUsed, use.Seed, use.Request, ask.Seed)
		}
	}
	if purpose.Kind != "" && facts.MadeFrom[purpose.Kind] == nil {
		return fmt.Errorf("%s %q, for which %s was created, %w", purpose.Kind, purpose.Object, shown.Name, ErrGone)
	}
	return due(ask, purpose, facts)
}

// due returns an error if the seed has a valid certificate and nobody requested a new one.
func due(ask Ask, purpose jointoken.Purpose, facts Facts) error {
	if facts.Seed == nil {
		return nil
	}
	if purpose.Seed == "" {
		return fmt.Errorf("seed %q %w, and a token without a seed is for new seeds: create one for this seed with "+
			"\"terrarium token create --seed %s\", and --renew if its certificate is valid", ask.Seed, ErrExists, ask.Seed)
	}
	asking := []metav1.Object{facts.Seed}
	for _, object := range facts.MadeFrom {
		asking = append(asking, object)
	}
	if purpose.Renew || query.MayJoin(facts.Seed, facts.Now, asking...) || query.NeverJoined(facts.Seed) {
		return nil
	}
	return fmt.Errorf("seed %q %w; request a new one with a token of \"terrarium token create --seed %s --renew\" or with the annotation %s=%s",
		ask.Seed, ErrHasCertificate, ask.Seed, gardencorev1beta1.AnnotationOperation, gardencorev1beta1.OperationRenewKubeconfig)
}
