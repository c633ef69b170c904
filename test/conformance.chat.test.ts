/** The conformance cases of the chat format over every upstream dialect. */
import { conformance } from "./conformance.suite.ts";

conformance("chat");
