// SPDX-License-Identifier: Apache-2.0

// Package ui tests the web UI in a real browser: Chromium without a window, in front of a real server with objects in it. The tests
// themselves are in webui/e2e, because they are programs for the browser; this package runs what is around them.
//
// The browser, Node and a built UI are needed: `make test-ui` installs and builds them. Without them the tests are skipped, or fail
// if -browser is set.
package ui
