// Prints the packages of npm that the page is built of, by its lock file, as CycloneDX.
// npm sbom refuses the tree for the versions that one of its packages asks for.
import { readFileSync } from "node:fs";

const version = process.argv[2];
const { packages } = JSON.parse(readFileSync(new URL("../web/package-lock.json", import.meta.url), "utf8"));
const components = Object.entries(packages)
  .filter(([path, of]) => path !== "" && !of.dev && !of.devOptional && !(of.peer && of.optional))
  .map(([path, of]) => {
    const name = of.name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const purl = `pkg:npm/${name.replace("@", "%40")}@${of.version}`;
    return {
      type: "library", "bom-ref": `${purl}#${path}`, name, version: of.version, purl,
      ...(of.license ? { licenses: [{ expression: of.license }] } : {}),
      ...(of.integrity?.startsWith("sha512-") ? { hashes: [{ alg: "SHA-512", content: Buffer.from(of.integrity.slice(7), "base64").toString("hex") }] } : {}),
    };
  });
if (components.length === 0) throw new Error("web/package-lock.json has no packages");
console.log(JSON.stringify({
  bomFormat: "CycloneDX", specVersion: "1.6", version: 1,
  metadata: { component: { type: "application", name: "simgraph-page", version, "bom-ref": "simgraph-page" } },
  components,
}, null, 2));
