// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"net/url"
	"strings"
)

// Place says where an external datastore is, without what is secret in its URL.
type Place struct {
	// Kind is PostgreSQL, MySQL, NATS or etcd.
	Kind string
	// Address is the host with its port and, for a database, its name; it may be empty.
	Address string
}

// String describes the place in a sentence.
func (p Place) String() string {
	if p.Address == "" {
		return p.Kind
	}

	return p.Kind + " at " + p.Address
}

// PlaceOf describes the datastore at a URL. If it is not certain which part of the URL is a password, the place has no address.
func PlaceOf(endpoint string) Place {
	scheme, rest, _ := strings.Cut(endpoint, "://")
	if strings.HasPrefix(scheme, "http") {
		var hosts []string
		for server := range strings.SplitSeq(endpoint, ",") {
			if u, err := url.Parse(server); err == nil {
				hosts = append(hosts, u.Host)
			}
		}

		return Place{Kind: "etcd", Address: strings.Join(hosts, ", ")}
	}
	p := Place{Kind: map[string]string{"postgres": "PostgreSQL", "postgresql": "PostgreSQL", "mysql": "MySQL", "nats": "NATS"}[scheme]}
	address, _, _ := strings.Cut(rest, "?")
	at := strings.LastIndex(address, "@")
	if at < 0 && strings.Contains(rest, "@") {
		return p
	}
	p.Address = strings.NewReplacer("tcp(", "", "unix(", "", ")", "").Replace(address[at+1:])

	return p
}

// HasPassword reports whether the URL of a datastore contains a password.
func HasPassword(endpoint string) bool { return len(secrets(endpoint)) > 0 }

// secrets are the texts in the URL of a datastore that nobody may see.
func secrets(endpoint string) []string {
	var all []string
	add := func(secret string) {
		if secret == "" {
			return
		}
		all = append(all, secret)
		if plain, err := url.PathUnescape(secret); err == nil && plain != secret {
			all = append(all, plain)
		}
	}
	servers := []string{endpoint}
	if strings.HasPrefix(endpoint, "http") { // Only those of etcd are a list. Elsewhere, a comma is a part of the password.
		servers = strings.Split(endpoint, ",")
	}
	for _, server := range servers {
		_, rest, found := strings.Cut(server, "://")
		if !found {
			continue
		}
		if at := strings.LastIndex(rest, "@"); at >= 0 {
			_, password, _ := strings.Cut(rest[:at], ":")
			add(password)
		}
	}
	if _, query, found := strings.Cut(endpoint, "?"); found {
		// What cannot be parsed is refused when the datastore is connected; its other parameters count all the same.
		values, _ := url.ParseQuery(query)
		for key, value := range values {
			if key = strings.ToLower(key); strings.Contains(key, "password") || strings.Contains(key, "token") || key == "passwd" {
				add(strings.Join(value, ","))
			}
		}
	}

	return all
}

// redacted stands for what is secret.
const redacted = "[redacted]"

// redact removes what is secret in the URL of a datastore, and the URL itself, from a text.
func redact(text, endpoint string) string {
	if endpoint == "" {
		return text
	}
	hidden := append([]string{endpoint}, secrets(endpoint)...)
	for _, secret := range hidden {
		text = strings.ReplaceAll(text, secret, redacted)
	}

	return text
}

// redactedError is an error whose text has no secrets.
type redactedError struct {
	error

	text string
}

// Error implements error.
func (e redactedError) Error() string { return e.text }

// Unwrap returns the error with its own text, to find out what it is.
func (e redactedError) Unwrap() error { return e.error }

func redactError(err error, endpoint string) error {
	if err == nil {
		return nil
	}

	return redactedError{error: err, text: redact(err.Error(), endpoint)}
}
