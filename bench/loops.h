// The numbers of loops.cpp that its loops written by hand share.
#pragma once

namespace bench::loops {

constexpr int days = 200;
constexpr double susceptible = 0.99, infected = 0.01;

constexpr int implicit_steps = 60, newton_steps = 3;
constexpr double first_step = 1e-4, growth = 1.2;

constexpr int horizon = 40;  // of the cart-pole's control
constexpr double dt = 0.02, gravity = 9.8, pole_mass = 0.1, total_mass = 1.1, length = 0.5;
constexpr double state_cost[4] = {1, 0.1, 10, 0.1}, control_cost = 0.01, last_cost = 100;  // last_cost times state_cost

constexpr int particles = 27, verlet_steps = 200;
constexpr double verlet_dt = 0.005;

constexpr int dimensions = 10, chains = 64, leapfrog_steps = 100;
constexpr double leapfrog_dt = 0.05;

constexpr int hidden = 128, words = 32;  // of the recurrent network

}  // namespace bench::loops
