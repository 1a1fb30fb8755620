// SPDX-License-Identifier: Apache-2.0

// Package jointoken reads and writes the contents of the Secret of a join token: which seed or self-hosted shoot it is for, until when it is
// valid, and whether it has been used. ServiceAccounts with which seeds join have the same annotations about their use.
package jointoken

import (
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

// MaxLifetime is the longest time that a join token can be valid.
const MaxLifetime = 24 * time.Hour

// InfoKeyLifetime is the key of the default lifetime of a token in the ConfigMap gardener-info.
const InfoKeyLifetime = "joinTokenLifetime"

// skew is how far the clock of a client that creates a token may be ahead.
const skew = time.Minute

// Keys in the Secret of a token, besides those that Kubernetes defines for bootstrap tokens.
const (
	// KeySeed names the seed that the token is for.
	KeySeed = "seed"
	// KeyRenew is "true" if the token replaces the certificate of a seed that has a valid one.
	KeyRenew = "renew"
	// KeyDescription describes what the token is for. In tokens made by gardenlets, the garden reads it too.
	KeyDescription = "description"
	// KeyExpiration is the time at which the token expires, in RFC 3339 format.
	KeyExpiration = "expiration"
	// KeySecret is the secret half of the token.
	KeySecret = "token-secret"

	yes = "true"

	projects    = "garden"
	punctuation = `.,;:!?'"()`
)

const (
	// Namespace is the namespace of the Secrets of tokens.
	Namespace = "kube-system"
	// SecretPrefix is the prefix of the names of their Secrets; the id of the token follows.
	SecretPrefix = "bootstrap-token-"
	// SecretType is the type of their Secrets.
	SecretType corev1.SecretType = "bootstrap.kubernetes.io/token" //nolint:gosec // This is a type, not a secret.
	// UserPrefix is the prefix of the user name that a token authenticates; the id of the token follows.
	UserPrefix = "system:bootstrap:"
	// AccountPrefix is the prefix of the names of the ServiceAccounts with which seeds join; the name of the seed follows.
	AccountPrefix = "gardenlet-bootstrap-"
)

// Kinds of objects that a gardenlet creates tokens for.
const (
	KindManagedSeed = "ManagedSeed"
	KindGardenlet   = "Gardenlet"
)

// ErrContradiction says that a token names two seeds, ErrTwoShoots that it names two self-hosted shoots.
var (
	ErrContradiction = errors.New("the token names two different seeds")
	ErrTwoShoots     = errors.New("the token names two different shoots")
)

// Purpose is what a token is for: for a seed, or for the gardenlet of a self-hosted shoot.
type Purpose struct {
	// Seed is the only seed that may join with the token. If it and Shoot are empty, any seed that does not exist yet may.
	Seed string
	// Shoot is the only self-hosted shoot whose gardenlet may join with the token, which is for no seed then.
	Shoot types.NamespacedName
	// Renew says that the seed gets a certificate although it has a valid one.
	Renew bool
	// Kind and Object name the ManagedSeed or Gardenlet that a gardenlet has created the token for. Both are empty for a token
	// that an operator has created.
	Kind   string
	Object types.NamespacedName
}

// PurposeOf reads what a token is for. A token that names no seed is for the self-hosted shoot that its description names, and one
// without such a description for any seed that does not exist yet: no token is for both (GCM-CSR-7).
func PurposeOf(secret *corev1.Secret) (Purpose, error) {
	p := Purpose{Seed: Value(secret, KeySeed), Renew: Value(secret, KeyRenew) == yes}
	kind, object, ok := Described(Value(secret, KeyDescription))
	if !ok && p.Seed != "" {
		return p, nil
	}
	if !ok {
		var err error
		p.Shoot, err = shootNamed(Value(secret, KeyDescription))
		return p, err
	}
	if p.Seed != "" && p.Seed != object.Name {
		return Purpose{}, fmt.Errorf("%w: data[%s] names %q, the description %q", ErrContradiction, KeySeed, p.Seed, object.Name)
	}
	p.Seed, p.Kind, p.Object = object.Name, kind, object
	return p, nil
}

// Described parses the object that a gardenlet has created a token for from the description of the token, which contains
// "for the <Kind> resource <namespace>/<name>" (GAC-SR-14).
func Described(description string) (kind string, object types.NamespacedName, ok bool) {
	_, about, _ := strings.Cut(description, "for the ")
	kind, about, _ = strings.Cut(about, " resource ")
	about, _, _ = strings.Cut(about, " ")
	object.Namespace, object.Name, ok = strings.Cut(strings.TrimRight(about, ".,\n"), "/")
	ok = ok && object.Namespace != "" && object.Name != "" && (kind == KindManagedSeed || kind == KindGardenlet)
	return kind, object, ok
}

// ForShoot describes a token for the gardenlet of a self-hosted shoot.
func ForShoot(shoot types.NamespacedName) string { return "for the Shoot resource " + shoot.String() }

// ParseShoot parses a self-hosted shoot, given as <namespace>/<name>. The namespaces of projects are garden and those that begin with garden-.
func ParseShoot(text string) (shoot types.NamespacedName, ok bool) {
	shoot.Namespace, shoot.Name, ok = strings.Cut(text, "/")
	if !ok || shoot.Namespace != projects && !strings.HasPrefix(shoot.Namespace, projects+"-") ||
		len(validation.IsDNS1123Label(shoot.Namespace)) > 0 || len(validation.IsDNS1123Label(shoot.Name)) > 0 {
		return types.NamespacedName{}, false
	}
	return shoot, true
}

// shootNamed returns the shoot among the words of a description.
func shootNamed(description string) (named types.NamespacedName, err error) {
	for word := range strings.FieldsSeq(description) {
		shoot, ok := ParseShoot(strings.Trim(word, punctuation))
		if !ok || shoot == named {
			continue
		}
		if named != (types.NamespacedName{}) {
			return types.NamespacedName{}, fmt.Errorf("%w: the description names %q and %q", ErrTwoShoots, named, shoot)
		}
		named = shoot
	}
	return named, nil
}

// Value reads a value from the data of a Secret as it will be after the server has merged StringData into it.
func Value(secret *corev1.Secret, key string) string {
	if text, ok := secret.StringData[key]; ok {
		return text
	}
	return string(secret.Data[key])
}

// Validate returns an error if a token could be valid for longer than MaxLifetime from now on, or if its purpose is invalid.
func Validate(secret *corev1.Secret, now time.Time) error {
	if err := CheckLifetime(secret, now); err != nil {
		return err
	}
	if seed := Value(secret, KeySeed); seed != "" {
		if wrong := validation.IsDNS1123Label(seed); len(wrong) > 0 {
			return fmt.Errorf("data[%s]: %q is not the name of a seed: %s", KeySeed, seed, strings.Join(wrong, "; "))
		}
	}
	if Value(secret, KeyRenew) == yes && Value(secret, KeySeed) == "" {
		return fmt.Errorf("data[%s]: required together with data[%s]", KeySeed, KeyRenew)
	}
	_, err := PurposeOf(secret)
	return err
}

// CheckLifetime returns an error if a token has no expiration or one that is too far in the future.
func CheckLifetime(secret *corev1.Secret, now time.Time) error {
	text := Value(secret, KeyExpiration)
	if text == "" {
		return fmt.Errorf("data[%s]: required: a join token is valid for %s at most", KeyExpiration, MaxLifetime)
	}
	end, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return fmt.Errorf("data[%s]: must be a time in RFC 3339 format: %w", KeyExpiration, err)
	}
	if end.After(now.Add(MaxLifetime + skew)) {
		return fmt.Errorf("data[%s]: %s is too far in the future: a join token is valid for %s at most", KeyExpiration, text, MaxLifetime)
	}
	return nil
}

// The annotations that mark a token, or a ServiceAccount with which a seed joins, as used. Only the server writes them.
const (
	annotationPrefix = "token.terrarium.garden/"

	annotationSeed    = annotationPrefix + "used-by-seed"
	annotationTime    = annotationPrefix + "used-at"
	annotationRequest = annotationPrefix + "used-for-request"
	annotationUID     = annotationPrefix + "used-for-request-uid"
	annotationKey     = annotationPrefix + "used-for-key"
)

// Use describes the use of a token, which can be used once.
type Use struct {
	// Seed is the seed that has joined, or the self-hosted shoot, as <namespace>/<name>.
	Seed string
	// At is when its request was approved.
	At time.Time
	// Request and UID are the CertificateSigningRequest.
	Request string
	UID     types.UID
	// Key is the hash of the public key that was certified.
	Key string
}

// UseOf reads the mark of a token. It returns nil if the token has not been used.
func UseOf(object metav1.Object) *Use {
	notes := object.GetAnnotations()
	if notes[annotationUID] == "" {
		return nil
	}
	at, _ := time.Parse(time.RFC3339, notes[annotationTime])
	return &Use{
		Seed: notes[annotationSeed], At: at, Request: notes[annotationRequest], UID: types.UID(notes[annotationUID]), Key: notes[annotationKey],
	}
}

// Mark writes the use of a token into its metadata; nil removes the mark.
func Mark(object metav1.Object, use *Use) {
	notes := object.GetAnnotations()
	for _, key := range []string{annotationSeed, annotationTime, annotationRequest, annotationUID, annotationKey} {
		delete(notes, key)
	}
	if use == nil {
		return
	}
	if notes == nil {
		notes = map[string]string{}
	}
	notes[annotationSeed], notes[annotationTime] = use.Seed, use.At.UTC().Format(time.RFC3339)
	notes[annotationRequest], notes[annotationUID], notes[annotationKey] = use.Request, string(use.UID), use.Key
	object.SetAnnotations(notes)
}
