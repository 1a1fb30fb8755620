// SPDX-License-Identifier: Apache-2.0

// Package oidc is the client of an OpenID Connect issuer: it sends people there, and gets an identity token for the code that they come back with.
//
// It does not verify the signatures of tokens. The API of the garden accepts tokens of the same issuer as credentials, so a caller shows it each
// new one, and there is one place that decides which tokens are valid. What the API cannot know is checked here: that a token is the answer to this
// sign-in (nonce), and that a renewed one belongs to the same user.
package oidc
