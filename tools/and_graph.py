"""Graph of two-input ANDs with inverters, and AIGER files of parts of it for yosys-abc.

A literal is twice the number of a node, plus 1 if inverted; node 0 is the constant 0.
"""

FALSE, TRUE = 0, 1


class AndGraph:
    """Equal ANDs are one node: literals that are equal are equal for every input."""

    def __init__(self):
        self.fanins = [None]  # of a node; None for the constant and for variables
        self._known = {}

    def variable(self):
        self.fanins.append(None)
        return 2 * (len(self.fanins) - 1)

    def and_(self, a, b):
        if a > b:
            a, b = b, a
        if a == FALSE or a == b ^ 1:
            return FALSE
        if a in (TRUE, b):
            return b
        node = self._known.get((a, b))
        if node is None:
            node = self._known[a, b] = len(self.fanins)
            self.fanins.append((a, b))
        return 2 * node

    def or_(self, *literals):
        """Balanced, so that no path is as long as the list."""
        if len(literals) == 2:
            return self.and_(literals[0] ^ 1, literals[1] ^ 1) ^ 1
        words = list(literals) or [FALSE]
        while len(words) > 1:
            pairs = [self.and_(a ^ 1, b ^ 1) ^ 1 for a, b in zip(words[::2], words[1::2])]
            words = pairs + words[2 * len(pairs):]
        return words[0]

    def xor(self, a, b):
        return self.and_(self.and_(a, b) ^ 1, self.and_(a ^ 1, b ^ 1) ^ 1)

    def mux(self, select, then, otherwise):
        return self.and_(self.and_(select, then) ^ 1, self.and_(select ^ 1, otherwise) ^ 1) ^ 1

    def cone(self, literals, seen=None):
        """Nodes that the literals depend on, fan-ins first, without those in `seen`; adds to it."""
        seen = {0} if seen is None else seen
        order, stack = [], [literal >> 1 for literal in literals]
        while stack:
            node = stack[-1]
            missing = [] if self.fanins[node] is None or node in seen else [
                fanin >> 1 for fanin in self.fanins[node] if fanin >> 1 not in seen]
            if missing:
                stack += missing
                continue
            stack.pop()
            if node not in seen:
                seen.add(node)
                order.append(node)
        return order

    def values(self, literals, given):
        """Value of each literal; `given` has the values of nodes, of others 0."""
        known = {0: 0}
        for node in self.cone(literals):
            if self.fanins[node] is None:
                known[node] = given.get(node, 0)
            else:
                a, b = self.fanins[node]
                known[node] = (known[a >> 1] ^ a & 1) & (known[b >> 1] ^ b & 1)
        return [known[literal >> 1] ^ literal & 1 for literal in literals]

    def write_aiger(self, path, bad, latches, depth=None):
        """One output, `bad`; latches begin with 0, `latches` gives the next state of a node. Every
        other variable is an input, and so are latches whose state counts only after more than
        `depth` steps. Returns the nodes of inputs and of latches, in the file's order."""
        seen, ordered, frontier, nodes = {0}, [], [bad], []
        while frontier:
            more = self.cone(frontier, seen)
            nodes += more
            reached = [node for node in more if node in latches]
            if depth is not None and depth == 0:
                reached = []
            depth = depth if depth is None else max(depth - 1, 0)
            ordered += reached
            frontier = [latches[node] for node in reached]
        held = set(ordered)
        inputs = [node for node in nodes if self.fanins[node] is None and node not in held]
        ands = [node for node in nodes if self.fanins[node] is not None]
        nexts = [latches[node] for node in ordered]
        number = {node: i for i, node in enumerate([0] + inputs + ordered + ands)}
        renamed = [2 * number[literal >> 1] + (literal & 1) for literal in nexts + [bad]]
        head = (f"aig {len(number) - 1} {len(inputs)} {len(ordered)} 1 {len(ands)}\n"
                + "".join(f"{literal}\n" for literal in renamed))
        body = bytearray()
        for node in ands:
            low, high = sorted(2 * number[f >> 1] + (f & 1) for f in self.fanins[node])
            for delta in (2 * number[node] - high, high - low):
                while delta > 127:
                    body.append(delta & 127 | 128)
                    delta >>= 7
                body.append(delta)
        path.write_bytes(head.encode() + bytes(body))
        return inputs, ordered
