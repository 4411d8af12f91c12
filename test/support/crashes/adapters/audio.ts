import { boundary } from "../here.js";
import { surrounded } from "./built-in.js";

export default surrounded("audio", (opened) => boundary.around("audio", opened));
