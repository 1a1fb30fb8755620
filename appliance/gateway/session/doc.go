// SPDX-License-Identifier: Apache-2.0

// Package session keeps the sessions of people who are signed in to the web UI, and the codes of one-time links.
//
// A session is found by a random value that only the browser has: the store keeps its hash. All of it is in memory, so everybody
// is signed out when the server stops. A session has a credential of the garden and no permissions of its own: with each request
// the API authenticates the credential anew.
package session
