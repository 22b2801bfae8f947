"""All figures of a run, by name, one value a round; medians, spreads and paired ratios of them."""

import statistics


class Figures:
    def __init__(self):
        self._values = {}

    def add(self, section, pattern, contender, numbers):
        for name, value in numbers.items():
            if isinstance(value, (int, float)):
                self._values.setdefault((section, str(pattern), contender, name), []).append(value)

    def rounds(self, section, pattern, contender, name):
        return self._values.get((section, str(pattern), contender, name), [])

    def median(self, *key):
        """Absent: None when it was not measured."""
        values = self.rounds(*key)
        return statistics.median(values) if values else None

    def ratios(self, section, pattern, contender, other, name):
        """Of `contender` to `other`, round by round: both ran next to each other."""
        pairs = zip(self.rounds(section, pattern, contender, name),
                    self.rounds(section, pattern, other, name))
        return [mine / theirs for mine, theirs in pairs]

    def everywhere(self, name):
        """The values of all sections, patterns and contenders."""
        return [value for key, values in self._values.items() if key[3] == name for value in values]

    def text(self, *key, digits=1):
        return spread_text(self.rounds(*key), digits)

    def as_json(self):
        return [{"section": section, "pattern": pattern, "contender": contender, "figure": name,
                 "median": statistics.median(values), "rounds": values}
                for (section, pattern, contender, name), values in self._values.items()]


def spread_text(values, digits):
    """"6.7 (6.5..7.0)": the median and what it was taken from."""
    if not values:
        return "-"
    return (f"{statistics.median(values):.{digits}f} "
            f"({min(values):.{digits}f}..{max(values):.{digits}f})")


def table(header, rows):
    """Lines of a table in plain text that is also Markdown."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    def line(cells):
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths)) + " |"
    return [line(header), "|" + "|".join("-" * (width + 2) for width in widths) + "|", *map(line, rows)]
