// The query of the editor as code to take away. The token is a variable of the
// environment, never in the text.
import type { Shared } from './share';

const address = () => `${location.origin}/graphql`;
const body = ({ query, variables }: Shared, indent?: number) => {
  let parsed: unknown = {};
  try {
    parsed = JSON.parse(variables || '{}');
  } catch {
    parsed = {};
  }
  return JSON.stringify({ query, variables: parsed }, null, indent);
};

export const languages: { name: string; write: (shared: Shared) => string }[] = [
  {
    name: 'curl',
    write: (shared) =>
      `curl -s ${address()} \\\n  -H "Authorization: Bearer $SIMGRAPH_TOKEN" \\\n  -H 'Content-Type: application/json' \\\n  -d '${body(shared).replaceAll("'", `'\\''`)}'`,
  },
  {
    name: 'Python',
    write: (shared) =>
      `import json, os, urllib.request\n\nrequest = urllib.request.Request(\n    "${address()}",\n    data=json.dumps(json.loads(r'''${body(shared).replaceAll("'", '\\u0027')}''')).encode(),\n    headers={\n        "Authorization": "Bearer " + os.environ["SIMGRAPH_TOKEN"],\n        "Content-Type": "application/json",\n    },\n)\nprint(json.load(urllib.request.urlopen(request)))\n`,
  },
  {
    name: 'JavaScript',
    write: (shared) =>
      `const response = await fetch('${address()}', {\n  method: 'POST',\n  headers: {\n    Authorization: \`Bearer \${process.env.SIMGRAPH_TOKEN}\`,\n    'Content-Type': 'application/json',\n  },\n  body: JSON.stringify(${body(shared, 2).replaceAll('\n', '\n  ')}),\n});\nconsole.log(await response.json());\n`,
  },
];
