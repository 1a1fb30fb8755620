// SPDX-License-Identifier: Apache-2.0

// Package consistency proves that reads and watches are linearizable: many clients write and read at the same time, what
// each of them was answered is recorded with the times of question and answer, and afterwards compared with what the
// store holds.
//
// Two checkers look at each record. Porcupine, which knows nothing of the store, is given a register with versions for
// each key. A check of our own knows the truth, which is the log in the order of its revisions: each answer must be the
// state at one revision, and these revisions must not go back, over all keys, from an answer to whatever was asked after
// it. A list or a page holds exactly the state at its revision; a watch brings every change once and in order, and what it
// says about its progress holds.
//
// Not linearizable by design are reads for which the client accepts an old state: version 0, a version with the match
// NotOlderThan or Exact, and the later pages of a list. They still have to be the state at the version that they carry.
package consistency
