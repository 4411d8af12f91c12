import { render } from "preact";
import "../parts/style.css";
import "./console.css";
import { App } from "./app.js";

const page = document.getElementById("page");
if (page !== null) render(<App />, page);
