#include "santa/rtl/wrapper.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "santa/config/message_text.hpp"
#include "santa/error.hpp"
#include "santa/rtl/parameters.hpp"

namespace santa::rtl {
namespace {

struct Port {
  const char* name;
  std::int64_t bits;
};

bool is_output(const std::string& name) {
  return name.compare(name.size() - 2, 2, "_o") == 0;
}

// docs/rtl.md, "Ports".
std::vector<Port> unit_ports(const config::UnitConfig& unit) {
  const std::int64_t port_bits = 8 * unit.port_bytes;
  return {
      {"clk_i", 1},
      {"rst_ni", 1},
      {"m_axi_awid_o", 2},
      {"m_axi_awaddr_o", 64},
      {"m_axi_awlen_o", 8},
      {"m_axi_awsize_o", 3},
      {"m_axi_awburst_o", 2},
      {"m_axi_awvalid_o", 1},
      {"m_axi_awready_i", 1},
      {"m_axi_wdata_o", port_bits},
      {"m_axi_wstrb_o", unit.port_bytes},
      {"m_axi_wlast_o", 1},
      {"m_axi_wvalid_o", 1},
      {"m_axi_wready_i", 1},
      {"m_axi_bid_i", 2},
      {"m_axi_bresp_i", 2},
      {"m_axi_bvalid_i", 1},
      {"m_axi_bready_o", 1},
      {"m_axi_arid_o", 2},
      {"m_axi_araddr_o", 64},
      {"m_axi_arlen_o", 8},
      {"m_axi_arsize_o", 3},
      {"m_axi_arburst_o", 2},
      {"m_axi_arvalid_o", 1},
      {"m_axi_arready_i", 1},
      {"m_axi_rid_i", 2},
      {"m_axi_rdata_i", port_bits},
      {"m_axi_rresp_i", 2},
      {"m_axi_rlast_i", 1},
      {"m_axi_rvalid_i", 1},
      {"m_axi_rready_o", 1},
      {"s_axil_awvalid_i", 1},
      {"s_axil_awready_o", 1},
      {"s_axil_awaddr_i", 12},
      {"s_axil_wvalid_i", 1},
      {"s_axil_wready_o", 1},
      {"s_axil_wdata_i", 32},
      {"s_axil_wstrb_i", 4},
      {"s_axil_bvalid_o", 1},
      {"s_axil_bready_i", 1},
      {"s_axil_bresp_o", 2},
      {"s_axil_arvalid_i", 1},
      {"s_axil_arready_o", 1},
      {"s_axil_araddr_i", 12},
      {"s_axil_rvalid_o", 1},
      {"s_axil_rready_i", 1},
      {"s_axil_rdata_o", 32},
      {"s_axil_rresp_o", 2},
      {"irq_o", 1},
  };
}

// docs/rtl.md, "Monitors".
std::vector<Port> monitor_ports(const config::UnitConfig& unit) {
  const std::int64_t heads = unit.group_heads;
  return {
      {"mon_coefficient_valid_o", 1},
      {"mon_coefficient_feature_o", 8},
      {"mon_coefficient_data_o", 16 * heads},
      {"mon_score_valid_o", 1},
      {"mon_score_data_o", 32 * heads * unit.weight_lanes},
      {"mon_weight_valid_o", 1},
      {"mon_weight_data_o", 16 * heads * unit.weight_lanes},
      {"mon_tile_valid_o", 1},
      {"mon_tile_exponent_o", 32 * heads},
      {"mon_tile_sum_o", 32 * heads},
      {"mon_draw_valid_o", 1},
      {"mon_draw_head_o", 3},
      {"mon_draw_exponent_o", 32},
      {"mon_draw_mass_o", 64},
      {"mon_draw_offset_o", 64},
      {"mon_row_valid_o", 1},
      {"mon_row_key_o", 20},
      {"mon_row_counts_o", 16 * heads},
      {"mon_value_valid_o", 1},
      {"mon_value_data_o", 8 * unit.port_bytes},
      {"mon_output_valid_o", 1},
      {"mon_output_head_o", 3},
      {"mon_output_feature_o", 8},
      {"mon_output_data_o", 16 * unit.normalizer_lanes},
  };
}

std::string declaration(const Port& port) {
  const char* direction = is_output(port.name) ? "output" : "input ";
  const std::string range = port.bits > 1 ? fmt::format("[{}:0] ", port.bits - 1) : "";
  return fmt::format("  {} logic {}{}", direction, range, port.name);
}

}  // namespace

std::string wrapper_text(const config::HardwareConfig& hardware, const std::string& name,
                         Monitors monitors) {
  std::vector<Port> ports = unit_ports(hardware.unit);
  const char* module = "attention_unit";
  if (monitors == Monitors::kWith) {
    const std::vector<Port> more = monitor_ports(hardware.unit);
    ports.insert(ports.end(), more.begin(), more.end());
    module = "attention_unit_monitored";
  }
  std::vector<std::string> declarations;
  std::vector<std::string> connections;
  for (const Port& port : ports) {
    declarations.push_back(declaration(port));
    connections.push_back(fmt::format("    .{0}({0})", port.name));
  }
  std::vector<std::string> values;
  for (const Parameter& parameter : parameters_of(hardware)) {
    values.push_back(fmt::format("    .{}({})", parameter.name, parameter.value));
  }
  values.push_back(fmt::format("    .ConfigHash(64'h{})", hardware.unit_hash()));
  return fmt::format(
      "// {} with the parameters of hardware description {}.\n"
      "// Written by santa_rtl_config.\n"
      "module {} (\n{}\n);\n\n"
      "  {} #(\n{}\n  ) u_unit (\n{}\n  );\n\n"
      "endmodule\n",
      module, config::in_quotes(hardware.name), name, fmt::join(declarations, ",\n"), module,
      fmt::join(values, ",\n"), fmt::join(connections, ",\n"));
}

void check_module_name(const std::string& name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  bool valid = !name.empty() && is_letter(name.front());
  for (const char c : name) valid = valid && (is_letter(c) || (c >= '0' && c <= '9'));
  if (!valid) {
    throw input_error("--top", "", "got " + config::in_quotes(name),
                      "letters, digits and '_', no digit first");
  }
}

}  // namespace santa::rtl
