// SPDX-License-Identifier: Apache-2.0

// Package check judges seeds by other objects of the garden that belong to them, and says the result in a condition. What is
// judged is a value of type Check, not another controller.
package check
