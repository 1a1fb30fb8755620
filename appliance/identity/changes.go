// SPDX-License-Identifier: Apache-2.0

package identity

import "time"

// Changes are the changes of keys and authorities of a garden, step by step. If other servers have them too, a step is published before
// it is made here; see Sharing.Share.
type Changes struct {
	sharing *Sharing
}

// StartAuthorityRotation makes the next authorities, and trusts them beside the current ones. The next client CA signs from now on,
// and the administrator gets a certificate of it. The serving certificate stays that of the current authority, which everybody trusts.
// If it is interrupted, Ensure goes on.
func (c Changes) StartAuthorityRotation(now time.Time) error {
	return c.sharing.change(now, func(m *material) error { return m.authoritySteps().begin(now) })
}

// NoteAuthoritiesSaved notes that the garden was saved with the next authorities.
func (c Changes) NoteAuthoritiesSaved(now time.Time) error {
	return c.sharing.change(now, func(m *material) error { return m.authoritySteps().noteSaved(now) })
}

// ContinueAuthorityRotation does what an interrupted StartAuthorityRotation has left to do. It changes nothing if that is nothing, or
// if the rotation is being completed.
func (c Changes) ContinueAuthorityRotation(now time.Time) error {
	return c.sharing.change(now, func(m *material) error { return m.authoritySteps().goOn(now) })
}

// SwitchAuthorities begins to complete a rotation: the next authorities sign everything. The former ones are still trusted until
// ForgetAuthorities. It may be repeated.
func (c Changes) SwitchAuthorities(now time.Time) error {
	return c.sharing.change(now, func(m *material) error { return m.authoritySteps().completeSwitch(now) })
}

// ForgetAuthorities goes on to complete a rotation after SwitchAuthorities: the former authorities are not trusted any more. It may be
// repeated.
func (c Changes) ForgetAuthorities(now time.Time) error {
	return c.sharing.change(now, func(m *material) error { return m.authoritySteps().completeForget(now) })
}

// EndAuthorityRotation ends a rotation after ForgetAuthorities.
func (c Changes) EndAuthorityRotation(now time.Time) error {
	return c.sharing.change(now, func(m *material) error { return m.authoritySteps().end() })
}

// StartEncryptionRotation begins a rotation. Nothing is changed but the record that it goes on.
func (c Changes) StartEncryptionRotation(now time.Time) error {
	return c.sharing.change(now, func(m *material) error { return m.encryption.startRotation(now) })
}

// AdvanceEncryptionRotation takes the next step, if it is the given one. It only changes files: the caller has to bring about what
// the step is about.
func (c Changes) AdvanceEncryptionRotation(step EncryptionStep, now time.Time) error {
	return c.sharing.change(now, func(m *material) error { return m.encryption.advanceRotation(step, now) })
}

// StartTokenKeyRotation makes a new key, which signs all tokens from now on. Tokens of the key before are still accepted until
// CompleteTokenKeyRotation. If it is interrupted, it has either been done or changed nothing.
func (c Changes) StartTokenKeyRotation(now time.Time) error {
	return c.sharing.change(now, func(m *material) error { return m.serviceAccount.startRotation(now) })
}

// CompleteTokenKeyRotation ends the rotation to the key with an id: tokens of the key before are not accepted any more. A rotation that
// has begun since the caller looked is another one.
func (c Changes) CompleteTokenKeyRotation(id string, now time.Time) error {
	return c.sharing.change(now, func(m *material) error { return m.serviceAccount.completeRotation(id) })
}

// StartWorkloadIdentityRotation makes a new key, which signs all tokens from now on. Tokens of the key before are still verified by the
// key set until CompleteWorkloadIdentityRotation. If it is interrupted, it has either been done or changed nothing.
func (c Changes) StartWorkloadIdentityRotation(now time.Time) error {
	return c.sharing.change(now, func(m *material) error { return m.workloadIdentity.startRotation(now) })
}

// CompleteWorkloadIdentityRotation ends the rotation to the key with an id: tokens of the key before are not verified any more. A rotation
// that has begun since the caller looked is another one.
func (c Changes) CompleteWorkloadIdentityRotation(id string, now time.Time) error {
	return c.sharing.change(now, func(m *material) error { return m.workloadIdentity.completeRotation(id) })
}
