import { adapterContract } from "fermata-music/testing/contracts";
import audio from "./audio.js";

// An empty folder of the server: the suite fills it.
const url = process.env["AUDIO_URL"] ?? "http://127.0.0.1:8080/";
adapterContract("HTTP PUT", audio, { url, settings: { token: process.env["TOKEN"] ?? "" } });
