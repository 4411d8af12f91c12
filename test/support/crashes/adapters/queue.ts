import { boundary } from "../here.js";
import { surrounded } from "./built-in.js";

export default surrounded("queue", (opened) => boundary.around("queue", opened));
