// A call's arguments as people edit them: lines for each device where they have that form, else JSON.

const lists = ["config_commands", "commands"];

/** linesOf gives the devices' lines, or null when the arguments have another form: [{name, lines, put}], where put sets new lines in a copy. */
function linesOf(args) {
  if (Array.isArray(args.device_configs) && args.device_configs.length > 0) {
    const devices = args.device_configs.map((d) => {
      const key = d && typeof d.device_name === "string" ? lists.find((k) => strings(d[k])) : undefined;
      return key && { name: d.device_name, lines: d[key], put: (lines) => { d[key] = lines; } };
    });
    return devices.every(Boolean) ? devices : null;
  }
  const key = strings(args.device_names) ? lists.find((k) => strings(args[k])) : undefined;
  return key ? [{ name: args.device_names.join(", "), lines: args[key], put: (lines) => { args[key] = lines; } }] : null;
}

function strings(v) {
  return Array.isArray(v) && v.every((s) => typeof s === "string");
}

/** editable gives the texts to edit, each with a name, and what makes arguments of them again. */
export function editable(args) {
  const copy = structuredClone(args);
  const devices = copy && typeof copy === "object" && !Array.isArray(copy) ? linesOf(copy) : null;
  if (!devices) {
    return {
      json: true,
      texts: [{ name: "Arguments", text: JSON.stringify(args, null, 2) }],
      read([text]) {
        let value;
        try {
          value = JSON.parse(text);
        } catch (e) {
          throw new Error("The arguments are not JSON: " + e.message);
        }
        if (!value || typeof value !== "object" || Array.isArray(value)) throw new Error("The arguments must be an object.");
        return value;
      },
    };
  }
  return {
    json: false,
    texts: devices.map((d) => ({ name: d.name, text: d.lines.join("\n").replace(/\r\n?/g, "\n") })),
    read(texts) {
      const fresh = structuredClone(args);
      linesOf(fresh).forEach((d, i) => d.put(texts[i].split(/\r?\n/).filter((line) => line.trim() !== "")));
      return fresh;
    },
  };
}
