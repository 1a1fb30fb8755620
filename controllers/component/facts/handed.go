// SPDX-License-Identifier: Apache-2.0

package facts

// Handed is what the owner of a shoot hands in for its API server, as it is in ConfigMaps and Secrets of the project. It is not trusted:
// the API server runs in the seed, where its owner has no rights.
type Handed struct {
	// AuditPolicy, Authentication and Authorization are configurations of the API server. Each is empty if the shoot refers to none.
	AuditPolicy, Authentication, Authorization string
	// Authorizers and Plugins are kubeconfigs, by the name of the authorizer or of the admission plugin that uses them.
	Authorizers, Plugins map[string][]byte
}
