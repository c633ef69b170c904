/** The conformance cases of the generate format over every upstream dialect. */
import { conformance } from "./conformance.suite.ts";

conformance("generate");
