// SPDX-License-Identifier: Apache-2.0

package oidc

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// Tokens are what the issuer gives for a sign-in.
type Tokens struct {
	// ID is the identity token, with which the user authenticates.
	ID string

	refresh string
	claims  claims
}

// claims are those of an identity token that this package looks at.
type claims struct {
	Issuer  string `json:"iss"`
	Subject string `json:"sub"`
	Nonce   string `json:"nonce"`
	Expires int64  `json:"exp"`
}

// Expires is when the identity token expires.
func (t Tokens) Expires() time.Time { return time.Unix(t.claims.Expires, 0) }

// Renewable reports whether the issuer gives new tokens without the user.
func (t Tokens) Renewable() bool { return t.refresh != "" }

// tokens reads an answer of the issuer.
func (c *Client) tokens(answer *oauth2.Token) (Tokens, error) {
	id, ok := answer.Extra("id_token").(string)
	if !ok {
		return Tokens{}, fmt.Errorf("%w: the issuer has sent no identity token", ErrRefused)
	}
	found := Tokens{ID: id, refresh: answer.RefreshToken}
	parts := strings.Split(id, ".")
	if len(parts) != 3 {
		return Tokens{}, fmt.Errorf("%w: the identity token is malformed", ErrRefused)
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(data, &found.claims) != nil {
		return Tokens{}, fmt.Errorf("%w: the identity token is malformed", ErrRefused)
	}
	if found.claims.Issuer != c.config.Issuer || found.claims.Subject == "" {
		return Tokens{}, fmt.Errorf("%w: the identity token is of issuer %q", ErrRefused, found.claims.Issuer)
	}

	return found, nil
}
