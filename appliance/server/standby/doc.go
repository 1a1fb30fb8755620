// SPDX-License-Identifier: Apache-2.0

// Package standby answers on the port of a server that does not serve the garden yet: a [WaitingRoom] while the datastore does not answer, a
// [Forwarder] while another server of the garden leads. Both borrow the listener, and give it back for the API server.
package standby
