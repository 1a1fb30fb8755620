// SPDX-License-Identifier: Apache-2.0

// Package webui tests the web UI's way to the API: sessions, links, and everything that a hostile page or user can try. It uses a
// real server over TLS, and a client that behaves as a browser does.
package webui
