// SPDX-License-Identifier: Apache-2.0

// Package workloadidentity keeps tokens of workload identities fresh: a Secret of the seed that names an identity of the garden
// holds a token of it that is valid, renewed after half of its life. Whoever makes such a Secret asks for the first token
// itself, so that nobody ever finds the Secret without one. A token never gets into a log or an event.
package workloadidentity
