// SPDX-License-Identifier: Apache-2.0

package consistency_test

const childDir = "TERRARIUM_CONSISTENCY_DIR"

func serve(string) int { return 1 }
